/**
 * Describes what goes over the wire, as protobufjs reads it. The names and numbers are those of DTM's own service, and of the
 * standard service for health.
 */
const field = (type: string, id: number) => ({ type, id })
const many = (type: string, id: number) => ({ rule: 'repeated', type, id })
const texts = (id: number) => ({ keyType: 'string', type: 'string', id })
const method = (requestType: string, responseType: string) => ({ requestType, responseType })

const EMPTY = 'google.protobuf.Empty'

const DTM = {
  Dtm: {
    methods: {
      NewGid: method(EMPTY, 'DtmGidReply'),
      Submit: method('DtmRequest', EMPTY),
      Prepare: method('DtmRequest', EMPTY),
      Abort: method('DtmRequest', EMPTY),
      RegisterBranch: method('DtmBranchRequest', EMPTY),
      PrepareWorkflow: method('DtmRequest', 'DtmProgressesReply'),
      Subscribe: method('DtmTopicRequest', EMPTY),
      Unsubscribe: method('DtmTopicRequest', EMPTY),
      DeleteTopic: method('DtmTopicRequest', EMPTY),
    },
  },
  DtmTransOptions: {
    fields: {
      WaitResult: field('bool', 1),
      TimeoutToFail: field('int64', 2),
      RetryInterval: field('int64', 3),
      BranchHeaders: texts(5),
      RequestTimeout: field('int64', 6),
      RetryLimit: field('int64', 7),
    },
    reserved: [[4, 4]],
  },
  DtmRequest: {
    fields: {
      Gid: field('string', 1),
      TransType: field('string', 2),
      TransOptions: field('DtmTransOptions', 3),
      CustomedData: field('string', 4),
      BinPayloads: many('bytes', 5),
      QueryPrepared: field('string', 6),
      Steps: field('string', 7),
      ReqExtra: texts(8),
      RollbackReason: field('string', 9),
    },
  },
  DtmGidReply: { fields: { Gid: field('string', 1) } },
  DtmBranchRequest: {
    fields: {
      Gid: field('string', 1),
      TransType: field('string', 2),
      BranchID: field('string', 3),
      Op: field('string', 4),
      Data: texts(5),
      BusiPayload: field('bytes', 6),
    },
  },
  DtmProgressesReply: {
    fields: { Transaction: field('DtmTransaction', 1), Progresses: many('DtmProgress', 2) },
  },
  DtmTransaction: {
    fields: {
      Gid: field('string', 1),
      Status: field('string', 2),
      RollbackReason: field('string', 3),
      Result: field('string', 4),
    },
  },
  DtmProgress: {
    fields: {
      Status: field('string', 1),
      BinData: field('bytes', 2),
      BranchID: field('string', 3),
      Op: field('string', 4),
    },
  },
  DtmTopicRequest: {
    fields: { Topic: field('string', 1), URL: field('string', 2), Remark: field('string', 3) },
  },
}

const HEALTH = {
  Health: {
    methods: {
      Check: method('HealthCheckRequest', 'HealthCheckResponse'),
      Watch: { ...method('HealthCheckRequest', 'HealthCheckResponse'), responseStream: true },
    },
  },
  HealthCheckRequest: { fields: { service: field('string', 1) } },
  HealthCheckResponse: {
    fields: { status: field('ServingStatus', 1) },
    nested: { ServingStatus: { values: { UNKNOWN: 0, SERVING: 1, NOT_SERVING: 2, SERVICE_UNKNOWN: 3 } } },
  },
}

export const DESCRIPTOR = {
  options: { syntax: 'proto3' },
  nested: {
    google: { nested: { protobuf: { nested: { Empty: { fields: {} } } } } },
    dtmgimp: { nested: DTM },
    grpc: { nested: { health: { nested: { v1: { nested: HEALTH } } } } },
  },
}

export const DTM_SERVICE = 'dtmgimp.Dtm'
export const HEALTH_SERVICE = 'grpc.health.v1.Health'
