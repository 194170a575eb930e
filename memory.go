package kvasir

import (
	"bufio"
	"os"
	"strconv"
	"strings"
)

// freeMemory is how many bytes of memory a process may still take without others being pushed out: MemAvailable of /proc/meminfo, or what the control group of
// this process leaves if that is less. Where neither is known, 4 GiB are assumed.
func freeMemory() int64 {
	free, known := int64(4<<30), false
	if f, err := os.Open("/proc/meminfo"); err == nil {
		defer f.Close()
		for sc := bufio.NewScanner(f); sc.Scan(); {
			fields := strings.Fields(sc.Text())
			if len(fields) >= 2 && fields[0] == "MemAvailable:" {
				if kib, err := strconv.ParseInt(fields[1], 10, 64); err == nil {
					free, known = kib<<10, true
				}
			}
		}
	}
	limit, ok1 := readNumber("/sys/fs/cgroup/memory.max")
	used, ok2 := readNumber("/sys/fs/cgroup/memory.current")
	if ok1 && ok2 && (!known || limit-used < free) {
		free = max(limit-used, 0)
	}
	return free
}

// readNumber reads a file that holds one number; "max" is none.
func readNumber(path string) (int64, bool) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	return n, err == nil
}
