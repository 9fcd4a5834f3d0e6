import { DESCRIPTOR } from './descriptor.ts'

/** Tells how a field goes over the wire: as a number, as bytes, or as bytes that are a message. */
export type FieldShape = 'bool' | 'int64' | 'bytes' | MessageShape
/** Has the shape of each field by its number. */
export type MessageShape = ReadonlyMap<number, FieldShape>

interface DescribedMessage {
  readonly fields?: Readonly<Record<string, { readonly type: string; readonly id: number }>>
  readonly nested?: Readonly<Record<string, DescribedMessage>>
}

const { Dtm, ...others } = DESCRIPTOR.nested.dtmgimp.nested
const MESSAGES: Readonly<Record<string, DescribedMessage>> = others
const METHODS: Readonly<Record<string, { readonly requestType: string }>> = Dtm.methods

/** Returns the shape of the messages that a method of DTM's service takes. */
export function buildRequestShape(method: string): MessageShape {
  return buildShape(MESSAGES[METHODS[method]?.requestType ?? ''] ?? {})
}

function buildShape({ fields = {}, nested = {} }: DescribedMessage): MessageShape {
  return new Map(Object.values(fields).map(({ id, type }) => [id, toFieldShape(type, nested)]))
}

function toFieldShape(type: string, nested: Readonly<Record<string, DescribedMessage>>): FieldShape {
  if (type === 'bool' || type === 'int64') return type
  if (type === 'string' || type === 'bytes') return 'bytes'
  const message = nested[type] ?? MESSAGES[type]
  if (message === undefined) throw new Error(`a field of an unknown type: ${type}`)
  return buildShape(message)
}
