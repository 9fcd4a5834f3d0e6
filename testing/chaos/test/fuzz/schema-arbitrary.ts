import fc from 'fast-check'
import type { JsonSchema, SchemaJudge } from '../../src/fuzz/json-schema.ts'

/** Values of some members come from what a schema cannot say: a URL where something listens, a gid that is free. */
export type ByName = Readonly<Record<string, fc.Arbitrary<unknown>>>

const ITEMS_MAX = 4

/** Values that fit a schema. */
export function arbitraryOf(given: JsonSchema, judge: SchemaJudge, byName: ByName): fc.Arbitrary<unknown> {
  if (given.$ref === '#/components/schemas/JsonValue') return jsonValue
  const schema = judge.resolve(given)
  const choices = schema.oneOf ?? schema.anyOf
  if ('const' in schema) return fc.constant(schema.const)
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  if (choices !== undefined) return fc.oneof(...choices.map((each) => arbitraryOf(each, judge, byName)))
  switch (schema.type) {
    case 'null':
      return fc.constant(null)
    case 'boolean':
      return fc.boolean()
    case 'integer':
      return fc.integer({ min: schema.minimum ?? 0, max: schema.maximum ?? 2 ** 40 })
    case 'number':
      return fc.double({ min: schema.minimum ?? 0, max: schema.maximum ?? 1, noNaN: true })
    case 'string':
      return text(schema)
    case 'array':
      return fc.array(arbitraryOf(schema.items ?? {}, judge, byName), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? ITEMS_MAX, ITEMS_MAX),
      })
    case 'object':
      return objectOf(schema, judge, byName)
    default:
      return jsonValue
  }
}

// Keys that reach a prototype are refused: the one rule of a payload that its schema does not tell.
const jsonValue = fc
  .jsonValue({ maxDepth: 4, stringUnit: 'grapheme' })
  .filter((value) => !/__proto__|constructor/.test(JSON.stringify(value)))

function text({ minLength = 0, maxLength = 40, pattern }: JsonSchema): fc.Arbitrary<string> {
  const unit = pattern === undefined ? 'grapheme' : fc.constantFrom(...'abcXYZ019._:-')
  return fc.string({ unit, minLength, maxLength: Math.min(maxLength, 40) }).filter(isIn(minLength, maxLength))
}

function isIn(minLength: number, maxLength: number) {
  return (value: string) => [...value].length >= minLength && [...value].length <= maxLength
}

function objectOf(schema: JsonSchema, judge: SchemaJudge, byName: ByName): fc.Arbitrary<unknown> {
  const { properties = {}, required = [] } = schema
  const members = Object.entries(properties).map(([name, member]) => [
    name,
    Object.hasOwn(byName, name) ? byName[name] : arbitraryOf(member, judge, byName),
  ])
  const record: Record<string, fc.Arbitrary<unknown>> = Object.fromEntries(members)
  return fc.record(record, { requiredKeys: [...required] })
}
