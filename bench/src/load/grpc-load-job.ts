import type { LoadJob, TimedLength } from './load-job.ts'

/** A task of the load process over gRPC: calls of one unary method, each of which must end with the status OK. */
export interface GrpcLoadJob {
  /** This is HOST:PORT. */
  readonly address: string
  /** This is /PACKAGE.SERVICE/METHOD. */
  readonly method: string
  /** The fields that all messages have, in the format of protobuf, as base64. */
  readonly fields: string
  /** Each message also has a text that no other has, in the field of this number. */
  readonly uniqueField: number
  readonly unique: string
  /** Callers at once, which share a few connections as the clients of a service do. */
  readonly connections: number
  readonly length: TimedLength
}

export function isGrpcJob(job: LoadJob | GrpcLoadJob): job is GrpcLoadJob {
  return 'uniqueField' in job
}
