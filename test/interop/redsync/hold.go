// Tries a lock with redsync: hold KEY TTL_MS URL... See the README beside it.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/go-redsync/redsync/v4"
	syncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	goredislib "github.com/redis/go-redis/v9"
)

func main() {
	key := os.Args[1]
	ttl, _ := strconv.Atoi(os.Args[2])
	var pools []syncredis.Pool
	for _, url := range os.Args[3:] {
		options, err := goredislib.ParseURL(url)
		if err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
		pools = append(pools, goredis.NewPool(goredislib.NewClient(options)))
	}
	mutex := redsync.New(pools...).NewMutex(key, redsync.WithTries(1),
		redsync.WithExpiry(time.Duration(ttl)*time.Millisecond))
	if err := mutex.Lock(); err != nil {
		var taken *redsync.ErrTaken
		if errors.As(err, &taken) {
			fmt.Println("denied")
		} else {
			fmt.Println("failed:", err)
		}
		return
	}
	fmt.Println("held")
	_, _ = io.ReadAll(os.Stdin)
	if ok, err := mutex.Unlock(); !ok {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
	fmt.Println("released")
}
