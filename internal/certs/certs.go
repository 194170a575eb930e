// Package certs makes a certificate authority and certificates for the processes of a cluster, to try mutual TLS with. A cluster that outlives the trial takes them from the authority that its
// operators trust.
package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Names of the authority's files.
const (
	CACert = "ca.pem"
	CAKey  = "ca-key.pem"
)

// validity of all certificates. A minute of the past allows for clocks that differ.
const (
	validity = 365 * 24 * time.Hour
	skew     = time.Minute
)

// Make puts into dir, which it creates, for each host its certificate and key, <name>.pem and <name>-key.pem, and the authority's, [CACert] and [CAKey]. An authority that is there already
// is used again, so that hosts can be added. A host is a DNS name, an IP address or a URI; several names of one process are joined by commas, and the first names the files. Keys
// are readable by their owner alone. No file is overwritten: if one of them exists, nothing is written. It returns the paths of the files that it wrote.
func Make(dir string, hosts []string) (wrote []string, err error) {
	if len(hosts) == 0 {
		return nil, errors.New("certs: no host is named; name one for each process (--host)")
	}
	leaves := make([]leaf, len(hosts))
	for i, host := range hosts {
		if leaves[i], err = parseHost(host); err != nil {
			return nil, err
		}
	}
	var files []file
	ca, key, err := loadAuthority(dir)
	if errors.Is(err, fs.ErrNotExist) {
		ca, key, files, err = newAuthority()
	}
	if err != nil {
		return nil, err
	}
	for i := range leaves {
		pair, err := leaves[i].sign(ca, key)
		if err != nil {
			return nil, err
		}
		files = append(files, pair...)
	}
	return write(dir, files)
}

// file is what will be written.
type file struct {
	name string
	mode fs.FileMode
	data []byte
}

// write writes all files, or none where one of them exists.
func write(dir string, files []file) (wrote []string, err error) {
	seen := map[string]bool{}
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("certs: %s exists, and is not overwritten: remove it, or name another directory or host", path)
		}
		if seen[f.name] {
			return nil, fmt.Errorf("certs: two hosts would have the file %s", f.name)
		}
		seen[f.name] = true
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("certs: %w", err)
	}
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		if err := writeNew(path, f.mode, f.data); err != nil {
			return wrote, fmt.Errorf("certs: %w", err)
		}
		wrote = append(wrote, path)
	}
	return wrote, nil
}

func writeNew(path string, mode fs.FileMode, data []byte) error {
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = out.Write(data)
	return errors.Join(err, out.Close())
}

// leaf is one process's certificate.
type leaf struct {
	file string
	dns  []string
	ips  []net.IP
	uris []*url.URL
}

func parseHost(host string) (leaf, error) {
	var l leaf
	for name := range strings.SplitSeq(host, ",") {
		name = strings.TrimSpace(name)
		if l.file == "" {
			l.file = fileName(name)
		}
		u, err := url.Parse(name)
		switch ip := net.ParseIP(name); {
		case ip != nil:
			l.ips = append(l.ips, ip)
		case err == nil && u.Scheme != "" && u.Host != "":
			l.uris = append(l.uris, u)
		case isDNSName(name):
			l.dns = append(l.dns, name)
		default:
			return leaf{}, fmt.Errorf("certs: host %q is no DNS name, IP address or URI", name)
		}
	}
	if l.file+".pem" == CACert {
		return leaf{}, fmt.Errorf("certs: host %q: its file would be the authority's, %s", host, CACert)
	}
	return l, nil
}

// fileName is a name in which nothing means anything to a file system.
func fileName(host string) string {
	return strings.Map(func(r rune) rune {
		if r == '.' || r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, host)
}

func isDNSName(s string) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' || fileName(label) != label && label != "*" {
			return false
		}
	}
	return true
}

func (l *leaf) sign(ca *x509.Certificate, caKey *ecdsa.PrivateKey) ([]file, error) {
	t, err := template(l.file)
	if err != nil {
		return nil, err
	}
	t.DNSNames, t.IPAddresses, t.URIs = l.dns, l.ips, l.uris
	t.KeyUsage = x509.KeyUsageDigitalSignature
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} // whoever listens also dials
	_, _, files, err := issue(t, ca, caKey, l.file+".pem", l.file+"-key.pem")
	return files, err
}

func newAuthority() (*x509.Certificate, *ecdsa.PrivateKey, []file, error) {
	t, err := template("kvasir cluster")
	if err != nil {
		return nil, nil, nil, err
	}
	t.IsCA, t.BasicConstraintsValid, t.MaxPathLenZero = true, true, true
	t.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	return issue(t, t, nil, CACert, CAKey)
}

func template(name string) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("certs: %w", err)
	}
	now := time.Now()
	if len(name) > 64 { // the bound of a common name, RFC 5280 appendix A.1; the names that count are elsewhere
		name = name[:64]
	}
	return &x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: name}, NotBefore: now.Add(-skew), NotAfter: now.Add(validity)}, nil
}

// issue makes a key and a certificate for it, signed by parent with signer, or by itself where signer is nil.
func issue(t, parent *x509.Certificate, signer *ecdsa.PrivateKey, certFile, keyFile string) (*x509.Certificate, *ecdsa.PrivateKey, []file, error) {
	fail := func(err error) (*x509.Certificate, *ecdsa.PrivateKey, []file, error) {
		return nil, nil, nil, fmt.Errorf("certs: %s: %w", certFile, err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fail(err)
	}
	if signer == nil {
		signer = key
	}
	der, err := x509.CreateCertificate(rand.Reader, t, parent, key.Public(), signer)
	if err != nil {
		return fail(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return fail(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return fail(err)
	}
	return cert, key, []file{
		{certFile, 0o644, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})},
		{keyFile, 0o600, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})},
	}, nil
}

// loadAuthority reads an authority that Make made. The error is fs.ErrNotExist where neither of its files exists.
func loadAuthority(dir string) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	certPath, keyPath := filepath.Join(dir, CACert), filepath.Join(dir, CAKey)
	certDER, err := readPEM(certPath, "CERTIFICATE")
	if errors.Is(err, fs.ErrNotExist) {
		if _, other := os.Lstat(keyPath); other == nil {
			return nil, nil, fmt.Errorf("certs: %s exists, but %s does not: an authority has both", keyPath, certPath)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	keyDER, err := readPEM(keyPath, "PRIVATE KEY")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("certs: %s exists, but %s does not: without its key the authority signs nothing", certPath, keyPath)
	}
	if err != nil {
		return nil, nil, err
	}
	cert, err := x509.ParseCertificate(certDER)
	if err != nil {
		return nil, nil, fmt.Errorf("certs: %s: %w", certPath, err)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(keyDER)
	if err != nil {
		return nil, nil, fmt.Errorf("certs: %s: %w", keyPath, err)
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok || !key.PublicKey.Equal(cert.PublicKey) || !cert.IsCA {
		return nil, nil, fmt.Errorf("certs: %s is not an authority whose key is %s", certPath, keyPath)
	}
	return cert, key, nil
}

func readPEM(path, kind string) ([]byte, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("certs: %w", err)
	}
	block, _ := pem.Decode(b)
	if block == nil || block.Type != kind {
		return nil, fmt.Errorf("certs: %s holds no PEM block %q", path, kind)
	}
	return block.Bytes, nil
}
