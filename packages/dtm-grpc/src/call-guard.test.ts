import type { Gate, RequestHead } from '@counterstep/access'
import { expect, it } from 'vitest'
import { CallGuard } from './call-guard.ts'
import type { CallConnection, Connections } from './connections.ts'
import type { GrpcCall } from './grpc-call.ts'
import { DTM_METHODS } from './method-access.ts'

const PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const LONG = 'x'.repeat(15_000)

/** Admits a call with long headers, and returns the heads that the gate was asked about, and what is kept of the call. */
function admit(name: keyof typeof DTM_METHODS) {
  const asked: RequestHead[] = []
  const gate = { buildGuard: () => (head: RequestHead) => void asked.push(head) }
  const connection = { socket: { remoteAddress: '127.0.0.1' }, network: '127.0.0.1' }
  const connections = { find: () => connection as CallConnection, acquaint: () => undefined }
  const guard = new CallGuard(gate as unknown as Gate, connections as unknown as Connections)
  const members = Array.from({ length: 20 }, (_, n) => `m${n}${'k'.repeat(235)}=${'v'.repeat(255)}`)
  const headers = {
    ':authority': 'dtm.test',
    authorization: 'Bearer key',
    origin: `http://${LONG}`,
    referer: `http://${LONG}`,
    'sec-fetch-site': LONG,
    traceparent: `01${PARENT.slice(2)}-${LONG}`,
    tracestate: `a=1,b=2,c=3,d=4,e=5,${members.join()}`,
  }
  const admitted = guard.admit({} as GrpcCall, headers, DTM_METHODS[name])
  return { guard, admitted, asked }
}

it('S41: What is kept of the head of a call is short: its trace, and its key and host if its bytes are counted', () => {
  const trace = { traceparent: PARENT, tracestate: 'a=1,b=2,c=3,d=4,e=5' }
  expect(admit('Abort').admitted.head.headers).toEqual(trace)
  const { guard, admitted, asked } = admit('Submit')
  expect(Object.keys(asked[0]?.headers ?? {})).toHaveLength(7)
  const kept = { ...trace, authorization: 'Bearer key', ':authority': 'dtm.test' }
  expect(admitted.head.headers).toEqual(kept)
  guard.countStored(admitted, DTM_METHODS.Submit, 9)
  expect(asked[1]?.headers).toEqual({ ...kept, 'content-length': '9' })
})
