import { GoTypeError } from '../go-json/decode-go-struct.ts'
import type { GoValue } from '../go-json/go-value.ts'
import { GoSyntaxError, scanGoJson } from '../go-json/scan-go-json.ts'
import { refuse } from '../wire/answer.ts'
import { cutRepeated } from '../wire/cut-repeated.ts'

/** The order in which a saga calls its steps. */
export interface SagaOrder {
  /** If it is false, each step waits for the one before it, and `orders` does not count. */
  readonly concurrent: boolean
  /** The positions of the steps for which a step waits, by the position of that step. */
  readonly orders: ReadonlyMap<number, readonly number[]>
}

/** Throws for an order that cannot be read. DTM stores such a saga and fails each time that it polls it. */
export function readSagaOrder(customData: string): SagaOrder {
  const members = readMembers(customData)
  const concurrent = members.get('concurrent')
  if (concurrent !== undefined && concurrent.type !== 'null' && concurrent.type !== 'bool')
    throw refuseUnreadable(`concurrent is a ${concurrent.type}, not a bool`)
  return {
    concurrent: concurrent?.type === 'bool' && concurrent.value,
    orders: readOrders(members.get('orders')),
  }
}

/** Reads how many seconds a message waits until its branches are called. */
export function readDelayS(customData: string): number {
  const delay = readMembers(customData).get('delay')
  if (delay === undefined || delay.type === 'null') return 0
  if (delay.type !== 'number') throw refuseUnreadable(`delay is a ${delay.type}, not a number`)
  return readPosition(delay.text, 'delay')
}

/** Reads which workflow a client runs. The data is in base64. */
export function readWorkflowData(customData: string): { readonly name: string; readonly data: Buffer } {
  const members = readMembers(customData)
  const [name = '', data = ''] = ['name', 'data'].map((key) => readText(members.get(key), key))
  const bytes = Buffer.from(data, 'base64')
  // Node skips what is no base64.
  if (bytes.toString('base64') !== data) throw refuseUnreadable('data is not in base64')
  return { name, data: bytes }
}

function readText(value: GoValue | undefined, name: string): string {
  if (value === undefined || value.type === 'null') return ''
  if (value.type !== 'string') throw refuseUnreadable(`${name} is a ${value.type}, not a string`)
  return value.value
}

function readMembers(customData: string): ReadonlyMap<string, GoValue> {
  if (customData === '') return new Map()
  const value = scan(customData)
  if (value.type === 'null') return new Map()
  if (value.type !== 'object') throw refuseUnreadable(`is a ${value.type}, not an object`)
  return new Map(value.members.map(({ key, value: member }) => [key.toLowerCase(), member]))
}

function scan(customData: string): GoValue {
  try {
    return scanGoJson(customData)
  } catch (error: unknown) {
    if (error instanceof GoSyntaxError || error instanceof GoTypeError) throw refuseUnreadable(error.message)
    throw error
  }
}

function readOrders(value: GoValue | undefined): SagaOrder['orders'] {
  if (value === undefined || value.type === 'null') return new Map()
  if (value.type !== 'object') throw refuseUnreadable(`orders is a ${value.type}, not an object`)
  return new Map(
    value.members.map(({ key, value: before }) => [readPosition(key, 'orders'), readPositions(before)]),
  )
}

/** Returns each position once, so that a list that names one step a thousand times costs no more than one. */
function readPositions(value: GoValue): readonly number[] {
  if (value.type === 'null') return []
  if (value.type !== 'array') throw refuseUnreadable(`orders holds a ${value.type}, not a list`)
  const positions = value.items.map((item) => {
    if (item.type !== 'number') throw refuseUnreadable(`orders holds a ${item.type}, not a number`)
    return readPosition(item.text, 'orders')
  })
  return [...new Set(positions)]
}

function readPosition(text: string, name: string): number {
  if (!/^\d{1,15}$/.test(text))
    throw refuseUnreadable(`${name} holds ${cutRepeated(text)}, which is no whole number from 0 on`)
  return Number(text)
}

function refuseUnreadable(why: string) {
  return refuse(`custom_data: ${why}`)
}
