import type { GrpcLoadJob } from '../../load/grpc-load-job.ts'
import type { TimedLength } from '../../load/load-job.ts'
import { encodeField, encodeTrue } from '../../load/protobuf.ts'
import { PAYLOAD } from '../payload.ts'

const SUBMIT = '/dtmgimp.Dtm/Submit'
const SERVICE = 'bench.Branch'

/** The numbers of the fields of DtmRequest, and of its options. */
const FIELDS = { gid: 1, transType: 2, transOptions: 3, binPayloads: 5, steps: 7 } as const
const WAIT_RESULT = 1

/** The same saga over gRPC, with branches over gRPC. `branchAddress` is HOST:PORT. */
export function dtmGrpcJob(
  address: string,
  branchAddress: string,
  branches: number,
  unique: string,
  connections: number,
  length: TimedLength,
): GrpcLoadJob {
  const numbers = Array.from({ length: branches }, (_, index) => index + 1)
  const steps = numbers.map((number) => ({
    action: `${branchAddress}/${SERVICE}/Action${number}`,
    compensate: `${branchAddress}/${SERVICE}/Compensation${number}`,
  }))
  const fields = Buffer.concat([
    encodeField(FIELDS.transType, 'saga'),
    encodeField(FIELDS.transOptions, encodeTrue(WAIT_RESULT)),
    ...numbers.map(() => encodeField(FIELDS.binPayloads, JSON.stringify(PAYLOAD))),
    encodeField(FIELDS.steps, JSON.stringify(steps)),
  ])
  return {
    address,
    method: SUBMIT,
    fields: fields.toString('base64'),
    uniqueField: FIELDS.gid,
    unique,
    connections,
    length,
  }
}
