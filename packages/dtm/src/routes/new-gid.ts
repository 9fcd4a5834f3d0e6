import { randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { found } from '../wire/answer.ts'
import { BASE_PATH } from './base-path.ts'
import { SUBMIT } from './route-access.ts'
import { sendAnswer } from './send-answer.ts'

/** Digits and letters that no reader takes for one another: the alphabet of DTM's own ids. */
const ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const LENGTH = 22

export function newGidRoute(app: FastifyInstance): void {
  app.get(`${BASE_PATH}/newGid`, SUBMIT, (_request, reply) =>
    sendAnswer(reply, found({ dtm_result: 'SUCCESS', gid: newGid() })),
  )
}

/** 128 random bits in base 57. */
function newGid(): string {
  let bits = BigInt(`0x${randomBytes(16).toString('hex')}`)
  const base = BigInt(ALPHABET.length)
  let text = ''
  for (let position = 0; position < LENGTH; position++) {
    text = (ALPHABET[Number(bits % base)] ?? '') + text
    bits /= base
  }
  return text
}
