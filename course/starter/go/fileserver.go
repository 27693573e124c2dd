// A fileserver that serves one client after the other. It is yours to change: course/1-processes.md
// is the first sheet, course/server.md says what a server must do.
//
//	fileserver --listen HOST:PORT --auth HOST:PORT --root DIR
package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const unavailable = "ERR unavailable the authserver cannot be asked now\n"

// ask returns the reply of the authserver. A connection for each question: stage 4 changes that.
func ask(auth, question string) string {
	connection, err := net.DialTimeout("tcp", auth, 5*time.Second)
	if err != nil {
		return unavailable
	}
	defer connection.Close()
	connection.SetDeadline(time.Now().Add(5 * time.Second))
	fmt.Fprintf(connection, "%s\n", question)
	reply, err := bufio.NewReader(connection).ReadString('\n')
	if err != nil {
		return unavailable
	}
	return reply
}

// answerFile reads it from the disk: stage 3 changes that. To do: which names must not be opened?
func answerFile(root, name string) string {
	content, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		return "ERR not-found no such file\n"
	}
	return fmt.Sprintf("OK %d\n%s", len(content), content)
}

// serve is the conversation with one client. To do: syntax, invalid, too-long, the form with spaces.
func serve(connection net.Conn, flags map[string]string) {
	defer connection.Close()
	lines := bufio.NewReader(connection)
	isGranted := false
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimSuffix(line, "\n")
		reply := "ERR denied no granted get: yet\n"
		switch {
		case line == "ping":
			reply = ask(flags["--auth"], "ping")
		case strings.HasPrefix(line, "get:"):
			reply = ask(flags["--auth"], "auth:"+line[4:])
			isGranted = reply == "OK\n"
		case strings.HasPrefix(line, "new:"):
			reply = ask(flags["--auth"], line)
		case isGranted:
			reply = answerFile(flags["--root"], line)
		}
		if _, err := connection.Write([]byte(reply)); err != nil {
			return
		}
	}
}

func main() {
	flags := map[string]string{
		"--listen": "127.0.0.1:9000", "--auth": "127.0.0.1:9001", "--root": "files",
	}
	for i := 1; i+1 < len(os.Args); i += 2 {
		flags[os.Args[i]] = os.Args[i+1]
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	go func() { <-stop; os.Exit(0) }()
	listener, err := net.Listen("tcp", flags["--listen"])
	if err != nil {
		fmt.Fprintln(os.Stderr, "fileserver:", err)
		os.Exit(1)
	}
	fmt.Printf("READY %s\n", listener.Addr())
	for {
		if connection, err := listener.Accept(); err == nil {
			serve(connection, flags) // the others wait: stages 1 and 2 change that
		}
	}
}
