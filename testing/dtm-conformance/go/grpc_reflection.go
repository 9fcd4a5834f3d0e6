package main

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	reflection "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

func (s *scenario) dialGrpc() (*grpc.ClientConn, error) {
	return grpc.Dial(s.grpcDtm, grpc.WithTransportCredentials(insecure.NewCredentials()))
}

func grpcHealth(s *scenario) error {
	connection, err := s.dialGrpc()
	if err != nil {
		return err
	}
	defer connection.Close()
	answer, err := grpc_health_v1.NewHealthClient(connection).Check(context.Background(), &grpc_health_v1.HealthCheckRequest{})
	return all(err, expectEqual("health", answer.GetStatus(), grpc_health_v1.HealthCheckResponse_SERVING))
}

// grpcReflection reads the description of the service as tools do: each file has to be valid beside the others.
func grpcReflection(s *scenario) error {
	connection, err := s.dialGrpc()
	if err != nil {
		return err
	}
	defer connection.Close()
	stream, err := reflection.NewServerReflectionClient(connection).ServerReflectionInfo(context.Background())
	if err != nil {
		return err
	}
	question := &reflection.ServerReflectionRequest{
		MessageRequest: &reflection.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: "dtmgimp.Dtm"},
	}
	if err := stream.Send(question); err != nil {
		return err
	}
	answer, err := stream.Recv()
	if err != nil {
		return err
	}
	files := &descriptorpb.FileDescriptorSet{}
	for _, raw := range answer.GetFileDescriptorResponse().GetFileDescriptorProto() {
		file := &descriptorpb.FileDescriptorProto{}
		if err := proto.Unmarshal(raw, file); err != nil {
			return err
		}
		files.File = append(files.File, file)
	}
	registry, err := protodesc.NewFiles(files)
	if err != nil {
		return err
	}
	found, err := registry.FindDescriptorByName("dtmgimp.Dtm")
	if err != nil {
		return err
	}
	service, isService := found.(protoreflect.ServiceDescriptor)
	if !isService {
		return fmt.Errorf("dtmgimp.Dtm is no service")
	}
	names := []string{}
	for i := 0; i < service.Methods().Len(); i++ {
		names = append(names, string(service.Methods().Get(i).Name()))
	}
	sort.Strings(names)
	return expectContains("methods", strings.Join(names, " "), "Abort")
}
