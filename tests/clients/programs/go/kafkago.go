package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/segmentio/kafka-go"
)

// The rack of the members with rack-affinity; the broker has none, so that no partition is in it.
const rack = "z1"

var kafkaGoBalancers = map[string]kafka.GroupBalancer{
	"range":         kafka.RangeGroupBalancer{},
	"roundrobin":    kafka.RoundRobinGroupBalancer{},
	"rack-affinity": kafka.RackAffinityGroupBalancer{Rack: rack},
}

type kafkaGoMember struct {
	reader *kafka.Reader
	cancel context.CancelFunc
	done   chan struct{}
}

func startKafkaGo(bootstrap string, wanted command, voice *voice) (member, error) {
	config := kafka.ReaderConfig{
		Brokers:          []string{bootstrap},
		GroupID:          wanted.Group,
		GroupTopics:      wanted.Topics,
		CommitInterval:   time.Second, // otherwise each record is committed by itself
		MaxWait:          time.Second,
		SessionTimeout:   milliseconds(wanted.SessionMs),
		RebalanceTimeout: milliseconds(wanted.RebalanceMs),
		Dialer:           &kafka.Dialer{ClientID: wanted.ClientID, Timeout: 10 * time.Second, DualStack: true},
		Logger:           kafka.LoggerFunc(assignmentsTo(voice)),
		ErrorLogger:      kafka.LoggerFunc(errorsTo(voice)),
	}
	for _, name := range wanted.Strategies {
		balancer, known := kafkaGoBalancers[name]
		if !known {
			return nil, fmt.Errorf("kafka-go has no group balancer %s", name)
		}
		config.GroupBalancers = append(config.GroupBalancers, balancer)
	}
	ctx, cancel := context.WithCancel(context.Background())
	started := &kafkaGoMember{kafka.NewReader(config), cancel, make(chan struct{})}
	go started.run(ctx, voice)
	return started, nil
}

func (m *kafkaGoMember) run(ctx context.Context, voice *voice) {
	defer close(m.done)
	for {
		record, err := m.reader.ReadMessage(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			voice.trouble(err)
			continue
		}
		voice.consumed(record.Topic)
	}
}

func (m *kafkaGoMember) close() error {
	m.cancel()
	<-m.done
	return m.reader.Close()
}

// assignmentsTo listens to the log of a reader, which has no other way to tell what it was assigned.
func assignmentsTo(voice *voice) func(string, ...any) {
	return func(format string, _ ...any) {
		if strings.HasPrefix(format, "subscribed to topics and partitions") {
			voice.tell("assigned", nil)
		}
	}
}

func errorsTo(voice *voice) func(string, ...any) {
	return func(format string, values ...any) {
		voice.trouble(errors.New(fmt.Sprintf(format, values...)))
	}
}
