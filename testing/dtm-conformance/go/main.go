// Command conformance drives an orchestrator with github.com/dtm-labs/client v1.18.7, unchanged.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/dtm-labs/client/workflow"
	"github.com/dtm-labs/logger"
	"github.com/go-redis/redis/v8"
)

func main() {
	dtm := flag.String("dtm", os.Getenv("DTM_URL"), "URL of the orchestrator, ending in /api/dtmsvr")
	mysqlURL := flag.String("mysql", os.Getenv("TEST_MYSQL_URL"), "mysql://user:password@host:port")
	redisURL := flag.String("redis", os.Getenv("TEST_REDIS_URL"), "redis://host:port")
	grpcDtm := flag.String("grpc", os.Getenv("DTM_GRPC"), "host:port of the orchestrator's gRPC API")
	flag.Parse()
	logger.InitLog("fatal")
	world, err := openWorld(*dtm, *grpcDtm, *mysqlURL, *redisURL)
	if err != nil {
		fmt.Println("not ok start:", err)
		os.Exit(1)
	}
	checks := []check{}
	for _, group := range [][]check{
		sagaChecks, concurrentChecks, tccChecks, xaChecks, messageChecks, redisChecks, workflowChecks, optionChecks, betterChecks,
		grpcChecks,
	} {
		checks = append(checks, group...)
	}
	results := &tally{}
	results.run(world, checks)
	// The client speaks one protocol at a time for all of its workflows.
	workflow.SetProtocolForTest("grpc")
	results.run(world, grpcWorkflowChecks())
	os.Exit(results.finish())
}

func openWorld(dtm, grpcDtm, mysqlURL, redisURL string) (*world, error) {
	if dtm == "" || grpcDtm == "" || mysqlURL == "" || redisURL == "" {
		return nil, fmt.Errorf("-dtm, -grpc, -mysql and -redis are needed")
	}
	db, conf, err := openBank(mysqlURL)
	if err != nil {
		return nil, err
	}
	options, err := redis.ParseURL(redisURL)
	if err != nil {
		return nil, err
	}
	service, err := startService()
	if err != nil {
		return nil, err
	}
	grpcBranches, err := service.serveGrpc(grpcDtm)
	if err != nil {
		return nil, err
	}
	w := &world{dtm: dtm, grpcDtm: grpcDtm, grpcBranches: grpcBranches, db: db, bankConf: conf, redis: redis.NewClient(options), service: service}
	return w, startWorkflows(w)
}
