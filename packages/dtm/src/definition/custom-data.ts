import { GoTypeError } from '../go-json/decode-go-struct.ts'
import type { GoValue } from '../go-json/go-value.ts'
import { GoSyntaxError, scanGoJson } from '../go-json/scan-go-json.ts'
import { refuse } from '../wire/answer.ts'

/** The order of a saga: which steps wait for which, by position. Only a concurrent saga has an order of its own. */
export interface SagaOrder {
  readonly concurrent: boolean
  readonly orders: ReadonlyMap<number, readonly number[]>
}

/** DTM stores what it cannot read and fails at every poll; here it is refused before anything is stored. */
export function readSagaOrder(customData: string): SagaOrder {
  const members = membersOf(customData)
  const concurrent = members.get('concurrent')
  if (concurrent !== undefined && concurrent.type !== 'null' && concurrent.type !== 'bool')
    throw unreadable(`concurrent is a ${concurrent.type}, not a bool`)
  return {
    concurrent: concurrent?.type === 'bool' && concurrent.value,
    orders: readOrders(members.get('orders')),
  }
}

/** Reads how many seconds a message waits until its branches are called. */
export function readDelayS(customData: string): number {
  const delay = membersOf(customData).get('delay')
  if (delay === undefined || delay.type === 'null') return 0
  if (delay.type !== 'number') throw unreadable(`delay is a ${delay.type}, not a number`)
  return readPosition(delay.text, 'delay')
}

function membersOf(customData: string): ReadonlyMap<string, GoValue> {
  if (customData === '') return new Map()
  const value = scan(customData)
  if (value.type === 'null') return new Map()
  if (value.type !== 'object') throw unreadable(`is a ${value.type}, not an object`)
  return new Map(value.members.map(({ key, value: member }) => [key.toLowerCase(), member]))
}

function scan(customData: string): GoValue {
  try {
    return scanGoJson(customData)
  } catch (error: unknown) {
    if (error instanceof GoSyntaxError || error instanceof GoTypeError) throw unreadable(error.message)
    throw error
  }
}

function readOrders(value: GoValue | undefined): SagaOrder['orders'] {
  if (value === undefined || value.type === 'null') return new Map()
  if (value.type !== 'object') throw unreadable(`orders is a ${value.type}, not an object`)
  return new Map(
    value.members.map(({ key, value: before }) => [readPosition(key, 'orders'), readPositions(before)]),
  )
}

/** Each position once: a list that names one step a thousand times would be walked as often as it is long. */
function readPositions(value: GoValue): readonly number[] {
  if (value.type === 'null') return []
  if (value.type !== 'array') throw unreadable(`orders holds a ${value.type}, not a list`)
  const positions = value.items.map((item) => {
    if (item.type !== 'number') throw unreadable(`orders holds a ${item.type}, not a number`)
    return readPosition(item.text, 'orders')
  })
  return [...new Set(positions)]
}

function readPosition(text: string, name: string): number {
  if (!/^\d{1,15}$/.test(text)) throw unreadable(`${name} holds ${text}, which is no whole number from 0 on`)
  return Number(text)
}

function unreadable(why: string) {
  return refuse(`custom_data: ${why}`)
}
