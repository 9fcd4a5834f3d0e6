/**
 * Describes what goes over the wire, as protobufjs reads it. The names and numbers are those of DTM's own service, and of the
 * standard services for health and reflection.
 */
const field = (type: string, id: number) => ({ type, id })
const many = (type: string, id: number) => ({ rule: 'repeated', type, id })
/** protobufjs describes a map of its own kind in a way that tools refuse, so a map is written as it is on the wire. */
const entry = { options: { map_entry: true }, fields: { key: field('string', 1), value: field('string', 2) } }
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
  // DTM had a field 4 once, which old clients may send.
  DtmTransOptions: {
    fields: {
      WaitResult: field('bool', 1),
      TimeoutToFail: field('int64', 2),
      RetryInterval: field('int64', 3),
      BranchHeaders: many('BranchHeadersEntry', 5),
      RequestTimeout: field('int64', 6),
      RetryLimit: field('int64', 7),
    },
    nested: { BranchHeadersEntry: entry },
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
      ReqExtra: many('ReqExtraEntry', 8),
      RollbackReason: field('string', 9),
    },
    nested: { ReqExtraEntry: entry },
  },
  DtmGidReply: { fields: { Gid: field('string', 1) } },
  DtmBranchRequest: {
    fields: {
      Gid: field('string', 1),
      TransType: field('string', 2),
      BranchID: field('string', 3),
      Op: field('string', 4),
      Data: many('DataEntry', 5),
      BusiPayload: field('bytes', 6),
    },
    nested: { DataEntry: entry },
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

const bytes = (id: number) => ({ rule: 'repeated', type: 'bytes', id })

const REFLECTION = {
  ServerReflection: {
    methods: {
      ServerReflectionInfo: {
        ...method('ServerReflectionRequest', 'ServerReflectionResponse'),
        requestStream: true,
        responseStream: true,
      },
    },
  },
  ServerReflectionRequest: {
    oneofs: { message_request: { oneof: ['file_by_filename', 'file_containing_symbol', 'list_services'] } },
    fields: {
      host: field('string', 1),
      file_by_filename: field('string', 3),
      file_containing_symbol: field('string', 4),
      list_services: field('string', 7),
    },
  },
  ServerReflectionResponse: {
    oneofs: {
      message_response: { oneof: ['file_descriptor_response', 'list_services_response', 'error_response'] },
    },
    fields: {
      valid_host: field('string', 1),
      original_request: field('ServerReflectionRequest', 2),
      file_descriptor_response: field('FileDescriptorResponse', 4),
      list_services_response: field('ListServiceResponse', 6),
      error_response: field('ErrorResponse', 7),
    },
  },
  FileDescriptorResponse: { fields: { file_descriptor_proto: bytes(1) } },
  ListServiceResponse: { fields: { service: many('ServiceResponse', 1) } },
  ServiceResponse: { fields: { name: field('string', 1) } },
  ErrorResponse: { fields: { error_code: field('int32', 1), error_message: field('string', 2) } },
}

export const DESCRIPTOR = {
  options: { syntax: 'proto3' },
  nested: {
    google: { nested: { protobuf: { nested: { Empty: { fields: {} } } } } },
    dtmgimp: { nested: DTM },
    grpc: {
      nested: {
        health: { nested: { v1: { nested: HEALTH } } },
        reflection: { nested: { v1: { nested: REFLECTION }, v1alpha: { nested: REFLECTION } } },
      },
    },
  },
}

export const DTM_SERVICE = 'dtmgimp.Dtm'
export const HEALTH_SERVICE = 'grpc.health.v1.Health'
/** Older tools know the second one alone. */
export const REFLECTION_SERVICES = [
  'grpc.reflection.v1.ServerReflection',
  'grpc.reflection.v1alpha.ServerReflection',
] as const
export const SERVICES: readonly string[] = [DTM_SERVICE, HEALTH_SERVICE, ...REFLECTION_SERVICES]

const PARTS = {
  'google.protobuf': { Empty: {} },
  dtmgimp: DTM,
  'grpc.health.v1': HEALTH,
  'grpc.reflection.v1': REFLECTION,
  'grpc.reflection.v1alpha': REFLECTION,
}

/** Has the full name of each service and message. */
export const DESCRIPTOR_NAMES: readonly string[] = Object.entries(PARTS).flatMap(([part, names]) =>
  Object.keys(names).map((name) => `${part}.${name}`),
)
