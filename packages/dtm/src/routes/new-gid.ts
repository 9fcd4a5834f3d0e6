import { randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { answerWith } from '../wire/answer.ts'
import { BASE_PATH } from './base-path.ts'
import { SUBMIT } from './route-access.ts'
import { sendAnswer } from './send-answer.ts'

/** DTM's ids have this alphabet, which leaves out digits and letters that look alike. */
const ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const LENGTH = 22

export function addNewGidRoute(app: FastifyInstance): void {
  app.get(`${BASE_PATH}/newGid`, SUBMIT, (_request, reply) =>
    sendAnswer(reply, answerWith({ dtm_result: 'SUCCESS', gid: createGid() })),
  )
}

/** Writes 128 random bits in base 57. */
export function createGid(): string {
  let bits = BigInt(`0x${randomBytes(16).toString('hex')}`)
  const base = BigInt(ALPHABET.length)
  let text = ''
  for (let position = 0; position < LENGTH; position++) {
    text = (ALPHABET[Number(bits % base)] ?? '') + text
    bits /= base
  }
  return text
}
