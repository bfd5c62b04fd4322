package main

import (
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

type rueidisLock struct {
	locker rueidislock.Locker
	key    string
}

// Among several processes a waiter is now and then not woken, though the key is gone: it asks again
// after this long, and that is part of its wait.
const forgotten = time.Second

// Told by the server, not polling: there is no other variant.
func (l rueidisLock) lock() (func(), error) {
	for {
		bounded, end := context.WithTimeout(context.Background(), forgotten)
		_, cancel, err := l.locker.WithContext(bounded, l.key)
		if !errors.Is(err, context.DeadlineExceeded) {
			return func() { cancel(); end() }, err
		}
		end()
	}
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
	})
	return func(key string) lock { return rueidisLock{locker, key} }, err
}
