package main

import (
	"context"
	"net/url"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

type rueidisLock struct {
	locker rueidislock.Locker
	key    string
}

// Told by the server, not polling: there is no other variant.
func (l rueidisLock) lock() (func(), error) {
	_, cancel, err := l.locker.WithContext(context.Background(), l.key)
	return cancel, err
}

func openRueidislock(urls []string, _ int, _ bool) (func(key string) lock, error) {
	server, err := url.Parse(urls[0])
	if err != nil {
		return nil, err
	}
	locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption:   rueidis.ClientOption{InitAddress: []string{server.Host}},
		KeyValidity:    ttl,
		ExtendInterval: ttl / 3,
		KeyMajority:    1,
		NoLoopTracking: true,
	})
	return func(key string) lock { return rueidisLock{locker, key} }, err
}
