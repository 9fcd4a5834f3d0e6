export type { DtmGrpcDeps, DtmGrpcServer } from './start-dtm-grpc.ts'
export { startDtmGrpc } from './start-dtm-grpc.ts'
