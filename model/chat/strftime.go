package chat

import (
	"fmt"
	"strings"
	"time"
)

// strftime formats a time as C's and Python's function of that name do in the C locale, for the directives that chat templates use; %-d and the like
// leave out leading zeros. A directive that it does not know stays as it is.
func strftime(t time.Time, format string) string {
	var out strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			out.WriteByte(format[i])
			continue
		}
		directive := format[i+1 : i+2]
		if directive == "-" && i+2 < len(format) {
			directive = format[i+1 : i+3]
		}
		text, ok := directiveText(t, directive[len(directive)-1])
		if !ok {
			text = "%" + directive
		} else if directive[0] == '-' {
			if text = strings.TrimLeft(text, "0"); text == "" {
				text = "0"
			}
		}
		out.WriteString(text)
		i += len(directive)
	}
	return out.String()
}

func directiveText(t time.Time, directive byte) (text string, ok bool) {
	layouts := map[byte]string{
		'Y': "2006", 'y': "06", 'm': "01", 'd': "02", 'H': "15", 'I': "03", 'M': "04", 'S': "05", 'p': "PM",
		'B': "January", 'b': "Jan", 'h': "Jan", 'A': "Monday", 'a': "Mon", 'e': "_2", 'Z': "MST", 'z': "-0700",
		'F': "2006-01-02", 'T': "15:04:05", 'D': "01/02/06", 'R': "15:04", 'c': "Mon Jan _2 15:04:05 2006", 'x': "01/02/06", 'X': "15:04:05",
	}
	if layout, known := layouts[directive]; known {
		return t.Format(layout), true
	}
	switch directive {
	case 'j':
		return fmt.Sprintf("%03d", t.YearDay()), true
	case 'f':
		return fmt.Sprintf("%06d", t.Nanosecond()/1000), true
	case 'w':
		return fmt.Sprint(int(t.Weekday())), true
	case '%':
		return "%", true
	}
	return "", false
}
