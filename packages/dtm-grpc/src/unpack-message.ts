import { promisify } from 'node:util'
import { gunzip, inflate } from 'node:zlib'
import { CallError } from './call-error.ts'
import { buildStatus, CODES } from './to-status.ts'

const UNPACKERS = { gzip: promisify(gunzip), deflate: promisify(inflate) } as const

export type Packing = keyof typeof UNPACKERS

export const PACKINGS = Object.keys(UNPACKERS) as readonly Packing[]

const TOO_LONG = buildStatus(CODES.RESOURCE_EXHAUSTED, 'the message is too long once it is unpacked')
const NOT_PACKED = buildStatus(CODES.INTERNAL, 'the message cannot be unpacked')

/** Throws a CallError if the message is longer than `bytesMax`, or if it is not packed so. It never holds more than the bound. */
export async function unpackMessage(
  bytes: Buffer,
  packing: Packing | undefined,
  bytesMax: number,
): Promise<Buffer> {
  if (packing === undefined) throw new CallError(NOT_PACKED)
  try {
    return await UNPACKERS[packing](bytes, { maxOutputLength: bytesMax })
  } catch (error: unknown) {
    const isLong = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE'
    throw new CallError(isLong ? TOO_LONG : NOT_PACKED)
  }
}
