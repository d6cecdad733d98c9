package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/IBM/sarama"
)

var saramaStrategies = map[string]func() sarama.BalanceStrategy{
	"range":              sarama.NewBalanceStrategyRange,
	"roundrobin":         sarama.NewBalanceStrategyRoundRobin,
	"sticky":             sarama.NewBalanceStrategySticky,
	"cooperative-sticky": sarama.NewBalanceStrategyCooperativeSticky,
}

type saramaMember struct {
	group  sarama.ConsumerGroup
	cancel context.CancelFunc
	done   chan struct{}
}

func startSarama(bootstrap string, wanted command, voice *voice) (member, error) {
	config, err := saramaConfig(wanted)
	if err != nil {
		return nil, err
	}
	group, err := sarama.NewConsumerGroup([]string{bootstrap}, wanted.Group, config)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	started := &saramaMember{group, cancel, make(chan struct{})}
	go started.run(ctx, wanted.Topics, voice)
	return started, nil
}

func saramaConfig(wanted command) (*sarama.Config, error) {
	config := sarama.NewConfig()
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	if wanted.ClientID != "" {
		config.ClientID = wanted.ClientID
	}
	if wanted.SessionMs > 0 {
		config.Consumer.Group.Session.Timeout = milliseconds(wanted.SessionMs)
	}
	if wanted.RebalanceMs > 0 {
		config.Consumer.Group.Rebalance.Timeout = milliseconds(wanted.RebalanceMs)
	}
	config.Consumer.Group.InstanceId = wanted.InstanceID
	var strategies []sarama.BalanceStrategy
	for _, name := range wanted.Strategies {
		strategy, known := saramaStrategies[name]
		if !known {
			return nil, fmt.Errorf("Sarama has no strategy %s", name)
		}
		strategies = append(strategies, strategy())
	}
	if len(strategies) > 0 {
		config.Consumer.Group.Rebalance.GroupStrategies = strategies
	}
	return config, nil
}

// run joins again after each rebalance, which ends Consume unless the strategy is cooperative.
func (m *saramaMember) run(ctx context.Context, topics []string, voice *voice) {
	defer close(m.done)
	for ctx.Err() == nil {
		err := m.group.Consume(ctx, topics, saramaHandler{voice})
		if errors.Is(err, sarama.ErrClosedConsumerGroup) {
			return
		}
		if err != nil && ctx.Err() == nil {
			voice.trouble(err)
		}
	}
}

func (m *saramaMember) close() error {
	m.cancel()
	<-m.done
	return m.group.Close()
}

type saramaHandler struct {
	voice *voice
}

func (h saramaHandler) Setup(session sarama.ConsumerGroupSession) error {
	h.voice.assigned(session.Claims())
	return nil
}

func (h saramaHandler) Cleanup(sarama.ConsumerGroupSession) error {
	return nil
}

func (h saramaHandler) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for record := range claim.Messages() {
		h.voice.consumed(record.Topic)
		session.MarkMessage(record, "")
	}
	return nil
}

func milliseconds(count int) time.Duration {
	return time.Duration(count) * time.Millisecond
}
