// Command members is many consumers of Go's client libraries in one process. Its first line of input is the broker's
// address; every other one is a command, a JSON object. What happens goes to standard output in the same form. It ends
// with its input.
//
//	{"do": "start", "name", "library", "group", "topics"} and perhaps "strategies", "client_id", "instance_id",
//	  "session_ms", "rebalance_ms": what is left out is as the library has it
//	{"do": "close", "name"}: the consumer closes in good order
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sync"
)

type command struct {
	Do          string   `json:"do"`
	Name        string   `json:"name"`
	Library     string   `json:"library"`
	Group       string   `json:"group"`
	Topics      []string `json:"topics"`
	Strategies  []string `json:"strategies"`
	ClientID    string   `json:"client_id"`
	InstanceID  string   `json:"instance_id"`
	SessionMs   int      `json:"session_ms"`
	RebalanceMs int      `json:"rebalance_ms"`
}

// A member reads, commits and takes part in rebalances until it is closed.
type member interface {
	close() error
}

type start func(bootstrap string, wanted command, voice *voice) (member, error)

var libraries = map[string]start{
	"sarama":   startSarama,
	"kafka-go": startKafkaGo,
	"franz-go": startFranzGo,
}

// A voice tells what happens to one member.
type voice struct {
	name     string
	speaking *sync.Mutex
	topics   sync.Map
}

func (v *voice) tell(event string, more map[string]any) {
	line := map[string]any{"name": v.name, "event": event}
	for key, value := range more {
		line[key] = value
	}
	text, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	v.speaking.Lock()
	defer v.speaking.Unlock()
	fmt.Println(string(text))
}

// assigned tells the partitions that the library gives its user to read, by topic.
func (v *voice) assigned(partitions map[string][]int32) {
	v.tell("assigned", map[string]any{"partitions": partitions})
}

// consumed tells the first record of each topic.
func (v *voice) consumed(topic string) {
	if _, known := v.topics.LoadOrStore(topic, true); !known {
		v.tell("consumed", map[string]any{"topic": topic})
	}
}

// trouble tells an error after which the member goes on.
func (v *voice) trouble(err error) {
	v.tell("trouble", map[string]any{"error": err.Error()})
}

func (v *voice) failed(err error) {
	v.tell("failed", map[string]any{"error": err.Error()})
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	lines.Scan()
	bootstrap := lines.Text()
	members, speaking := map[string]member{}, &sync.Mutex{}
	for lines.Scan() {
		var asked command
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			panic(err)
		}
		voice := &voice{name: asked.Name, speaking: speaking}
		switch asked.Do {
		case "start":
			started, err := libraries[asked.Library](bootstrap, asked, voice)
			if err != nil {
				voice.failed(err)
				continue
			}
			members[asked.Name] = started
		case "close":
			leaving := members[asked.Name]
			delete(members, asked.Name)
			go leave(leaving, voice)
		}
	}
}

func leave(leaving member, voice *voice) {
	if leaving == nil {
		voice.failed(fmt.Errorf("there is no such member"))
	} else if err := leaving.close(); err != nil {
		voice.failed(err)
	} else {
		voice.tell("closed", nil)
	}
}
