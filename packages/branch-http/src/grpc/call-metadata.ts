import type { OutgoingHttpHeaders } from 'node:http'
import { type BranchCall, findBadMetadata, toMetadata } from '@counterstep/core'
import { IDENTITY_HEADERS, TRANS_TYPES } from '@counterstep/protocol'
import { BadRequestError, USER_AGENT } from '../request-headers.ts'
import { buildTraceHeaders } from '../trace-headers.ts'

/** The largest value of `grpc-timeout` has so many digits. */
const TIMEOUT_MS_MAX = 99_999_999

export interface Destination {
  readonly scheme: 'http' | 'https'
  readonly authority: string
  readonly path: string
}

/**
 * Builds the metadata of one call: the identity under DTM's names and under ours, and what the submit gave. No metadata of
 * a submit can pass for the identity. Throws BadRequestError if a part of it can be in no call.
 */
export function buildMetadata(
  call: BranchCall,
  { scheme, authority, path }: Destination,
  leftMs: number,
): OutgoingHttpHeaders {
  const metadata: OutgoingHttpHeaders = {
    ':method': 'POST',
    ':scheme': scheme,
    ':authority': authority,
    ':path': path,
    te: 'trailers',
    'content-type': 'application/grpc',
    'user-agent': USER_AGENT,
    'grpc-timeout': `${Math.min(Math.max(1, Math.floor(leftMs)), TIMEOUT_MS_MAX)}m`,
    'dtm-gid': call.gid,
    'dtm-trans_type': TRANS_TYPES[call.kind],
    'dtm-branch_id': call.branchId,
    'dtm-op': call.opInUrl ?? call.op,
    'dtm-dtm': '',
    'counterstep-attempt': String(call.attempt),
    'counterstep-epoch': String(call.epoch),
    'counterstep-accepted-at': String(call.acceptedAt),
    [IDENTITY_HEADERS.gid]: call.gid,
    [IDENTITY_HEADERS.branchId]: call.branchId,
    [IDENTITY_HEADERS.op]: call.op,
    [IDENTITY_HEADERS.kind]: call.kind,
  }
  if (findBadMetadata(call.headers) !== undefined) throw new BadRequestError()
  for (const [name, value] of toMetadata(call.headers)) metadata[name] = value
  const trace = buildTraceHeaders(call)
  for (let at = 0; at < trace.length; at += 2) metadata[trace[at] ?? ''] = trace[at + 1]
  return metadata
}
