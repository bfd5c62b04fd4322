package main

import (
	"fmt"
	"math"
	"time"

	"github.com/go-redsync/redsync/v4"
	syncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

type redsyncLock struct{ mutex *redsync.Mutex }

func (l redsyncLock) lock() (func(), error) { return l.unlock, l.mutex.Lock() }

func (l redsyncLock) unlock() {
	if ok, err := l.mutex.Unlock(); !ok {
		must(fmt.Errorf("redsync: not unlocked: %w", err))
	}
}

func openRedsync(urls []string, workers int, poll bool) (func(key string) lock, error) {
	var pools []syncredis.Pool
	for _, url := range urls {
		options, err := redis.ParseURL(url)
		if err != nil {
			return nil, err
		}
		options.PoolSize = max(workers, 20)
		pools = append(pools, goredis.NewPool(redis.NewClient(options)))
	}
	through := redsync.New(pools...)
	how := []redsync.Option{redsync.WithExpiry(ttl), redsync.WithTries(math.MaxInt32)}
	if poll {
		how = append(how, redsync.WithRetryDelay(5*time.Millisecond))
	}
	return func(key string) lock { return redsyncLock{through.NewMutex(key, how...)} }, nil
}
