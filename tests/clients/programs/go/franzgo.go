package main

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
)

var franzGoBalancers = map[string]func() kgo.GroupBalancer{
	"range":              kgo.RangeBalancer,
	"roundrobin":         kgo.RoundRobinBalancer,
	"sticky":             kgo.StickyBalancer,
	"cooperative-sticky": kgo.CooperativeStickyBalancer,
}

type franzGoMember struct {
	client *kgo.Client
	cancel context.CancelFunc
	done   chan struct{}
}

func startFranzGo(bootstrap string, wanted command, voice *voice) (member, error) {
	options, err := franzGoOptions(wanted)
	if err != nil {
		return nil, err
	}
	client, err := kgo.NewClient(append(options, kgo.SeedBrokers(bootstrap), kgo.OnPartitionsAssigned(
		func(_ context.Context, _ *kgo.Client, added map[string][]int32) { voice.assigned(added) },
	))...)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	started := &franzGoMember{client, cancel, make(chan struct{})}
	go started.run(ctx, voice)
	return started, nil
}

func franzGoOptions(wanted command) ([]kgo.Opt, error) {
	options := []kgo.Opt{
		kgo.ConsumerGroup(wanted.Group),
		kgo.ConsumeTopics(wanted.Topics...),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
	}
	if wanted.ClientID != "" {
		options = append(options, kgo.ClientID(wanted.ClientID))
	}
	if wanted.InstanceID != "" {
		options = append(options, kgo.InstanceID(wanted.InstanceID))
	}
	if wanted.SessionMs > 0 {
		options = append(options, kgo.SessionTimeout(milliseconds(wanted.SessionMs)))
	}
	if wanted.RebalanceMs > 0 {
		options = append(options, kgo.RebalanceTimeout(milliseconds(wanted.RebalanceMs)))
	}
	var balancers []kgo.GroupBalancer
	for _, name := range wanted.Strategies {
		balancer, known := franzGoBalancers[name]
		if !known {
			return nil, fmt.Errorf("franz-go has no balancer %s", name)
		}
		balancers = append(balancers, balancer())
	}
	if len(balancers) > 0 {
		options = append(options, kgo.Balancers(balancers...))
	}
	return options, nil
}

func (m *franzGoMember) run(ctx context.Context, voice *voice) {
	defer close(m.done)
	for {
		fetches := m.client.PollFetches(ctx)
		if ctx.Err() != nil || fetches.IsClientClosed() {
			return
		}
		fetches.EachError(func(_ string, _ int32, err error) { voice.trouble(err) })
		fetches.EachTopic(func(topic kgo.FetchTopic) {
			if len(topic.Records()) > 0 {
				voice.consumed(topic.Topic)
			}
		})
	}
}

// close leaves the group: a static member does not.
func (m *franzGoMember) close() error {
	m.cancel()
	<-m.done
	m.client.Close()
	return nil
}
