package main

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"sync"
	"time"
)

type outcome struct {
	Cycles int         `json:"cycles"`
	Handed int         `json:"handed"`
	Shares []int       `json:"shares"`
	Times  map[int]int `json:"times"`
	MaxUs  float64     `json:"max_us"`
}

// A crowd of workers, one for each lock.
type crowd struct {
	locks    []lock
	shared   bool
	critical time.Duration
	last     *os.File // names the last holder of the shared lock
}

// takeOver says whether the lock was another's before.
func (c *crowd) takeOver(worker int) bool {
	var before, now [8]byte
	binary.LittleEndian.PutUint64(now[:], uint64(os.Getpid())*65536+uint64(worker))
	_, _ = c.last.ReadAt(before[:], 0)
	if bytes.Equal(before[:], now[:]) {
		return false
	}
	_, err := c.last.WriteAt(now[:], 0)
	must(err)
	return true
}

func (c *crowd) play(length time.Duration) outcome {
	results := make([]outcome, len(c.locks))
	var all sync.WaitGroup
	end := time.Now().Add(length)
	for n, each := range c.locks {
		all.Go(func() { results[n] = c.work(n, each, end) })
	}
	all.Wait()
	total := outcome{Times: map[int]int{}}
	for _, each := range results {
		total.Cycles += each.Cycles
		total.Handed += each.Handed
		total.Shares = append(total.Shares, each.Cycles)
		total.MaxUs = max(total.MaxUs, each.MaxUs)
		for bucket, count := range each.Times {
			total.Times[bucket] += count
		}
	}
	return total
}

func (c *crowd) work(worker int, with lock, end time.Time) outcome {
	result := outcome{Times: map[int]int{}}
	for time.Now().Before(end) {
		begin := time.Now()
		unlock, err := with.lock()
		must(err)
		taken := time.Now()
		other := c.shared && c.takeOver(worker)
		for time.Since(taken) < c.critical {
		}
		unlock()
		done := time.Now()
		if !done.After(end) {
			result.Cycles++
			if other {
				result.Handed++
			}
		}
		if c.shared {
			done = taken
		}
		result.record(done.Sub(begin))
	}
	return result
}

func (o *outcome) record(took time.Duration) {
	us := max(float64(took)/1e3, 1)
	o.MaxUs = max(o.MaxUs, us)
	o.Times[int(32*math.Log2(us))]++
}
