package main

import (
	"net"
	"net/url"
	"strings"

	"github.com/dtm-labs/client/dtmgrpc"
	"github.com/dtm-labs/client/dtmgrpc/dtmgimp"
	"github.com/dtm-labs/client/workflow"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// The service of one scenario is bank.KEY, and each of its branches is a method. A name of a service has no dash.
const grpcService = "bank."

// serveGrpc serves the branches of all scenarios over gRPC too, and returns its host and port.
func (s *service) serveGrpc(grpcDtm string) (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	server := grpc.NewServer(grpc.UnknownServiceHandler(s.handleGrpc))
	workflow.InitGrpc(grpcDtm, listener.Addr().String(), server)
	go func() {
		if err := server.Serve(listener); err != nil {
			panic(err)
		}
	}()
	return listener.Addr().String(), nil
}

func (s *service) handleGrpc(_ any, stream grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(stream)
	parts := strings.SplitN(strings.TrimPrefix(method, "/"+grpcService), "/", 2)
	scenario := s.find(strings.ReplaceAll(parts[0], "_", "-"))
	if scenario == nil || len(parts) != 2 {
		return status.Error(codes.Unimplemented, method)
	}
	message := &wrapperspb.StringValue{}
	if err := stream.RecvMsg(message); err != nil {
		return err
	}
	// The client's own reader of metadata tells what the call is.
	base := dtmgimp.TransBaseFromGrpc(stream.Context())
	query := url.Values{}
	query.Set("gid", base.Gid)
	query.Set("trans_type", base.TransType)
	query.Set("branch_id", base.BranchID)
	query.Set("op", base.Op)
	query.Set("dtm", base.Dtm)
	headers := map[string][]string{"Test-Header": {dtmgimp.GetMetaFromContext(stream.Context(), "test_header")}}
	received := call{path: parts[1], query: query, headers: headers, body: message.Value}
	if err := scenario.serve(received); err != nil {
		return dtmgrpc.DtmError2GrpcError(err)
	}
	return stream.SendMsg(&emptypb.Empty{})
}

// onGrpc sets what a branch does and returns where it is called over gRPC.
func (s *scenario) onGrpc(path string, do handler) string {
	s.on(path, do)
	return s.grpcURL(path)
}

func (s *scenario) grpcURL(path string) string {
	return s.grpcBranches + "/" + grpcService + strings.ReplaceAll(s.key, "-", "_") + "/" + path
}

func payload() *wrapperspb.StringValue { return wrapperspb.String(`{"amount":30}`) }
