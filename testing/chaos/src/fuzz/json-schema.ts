/** A schema as the OpenAPI document of the server writes it: the part of JSON Schema 2020-12 that it uses. */
export interface JsonSchema {
  readonly $ref?: string
  readonly type?: 'null' | 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object'
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly oneOf?: readonly JsonSchema[]
  readonly anyOf?: readonly JsonSchema[]
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly items?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly propertyNames?: JsonSchema
  readonly additionalProperties?: boolean | JsonSchema
}

/** Words that say nothing about a value. */
const NOTES = new Set(['description', 'examples', 'default'])
const CHECKED = new Set([
  ...['$ref', 'type', 'const', 'enum', 'oneOf', 'anyOf', 'minLength', 'maxLength', 'pattern', 'minimum'],
  ...['maximum', 'minItems', 'maxItems', 'items', 'properties', 'required', 'propertyNames'],
  'additionalProperties',
])

/** Says where a value does not fit. A word of JSON Schema that it does not know is an error, not a pass. */
export class SchemaJudge {
  readonly #components: Readonly<Record<string, JsonSchema>>

  constructor(components: Readonly<Record<string, JsonSchema>>) {
    this.#components = components
  }

  resolve(schema: JsonSchema): JsonSchema {
    if (schema.$ref === undefined) return schema
    const name = schema.$ref.replace('#/components/schemas/', '')
    const found = this.#components[name]
    if (found === undefined) throw new Error(`the document has no ${schema.$ref}`)
    return this.resolve(found)
  }

  faultsOf(given: JsonSchema, value: unknown, at = ''): readonly string[] {
    const schema = this.resolve(given)
    for (const word of Object.keys(schema)) {
      if (!CHECKED.has(word) && !NOTES.has(word)) throw new Error(`this judge does not know "${word}"`)
    }
    if (schema.type !== undefined && !isOfType(schema.type, value)) return [`${at}: is no ${schema.type}`]
    return [
      ...this.#choiceFaults(schema, value, at),
      ...(typeof value === 'string' ? textFaults(schema, value, at) : []),
      ...(typeof value === 'number' ? numberFaults(schema, value, at) : []),
      ...(Array.isArray(value) ? this.#arrayFaults(schema, value, at) : []),
      ...(isObject(value) ? this.#objectFaults(schema, value, at) : []),
    ]
  }

  #choiceFaults(schema: JsonSchema, value: unknown, at: string): readonly string[] {
    const faults: string[] = []
    if ('const' in schema && schema.const !== value) faults.push(`${at}: is not ${String(schema.const)}`)
    if (schema.enum !== undefined && !schema.enum.includes(value)) faults.push(`${at}: is none of the enum`)
    const fitting = (choices: readonly JsonSchema[]) =>
      choices.filter((choice) => this.faultsOf(choice, value, at).length === 0).length
    if (schema.oneOf !== undefined && fitting(schema.oneOf) !== 1) faults.push(`${at}: fits not exactly one`)
    if (schema.anyOf !== undefined && fitting(schema.anyOf) === 0) faults.push(`${at}: fits none`)
    return faults
  }

  #arrayFaults(schema: JsonSchema, items: readonly unknown[], at: string): readonly string[] {
    const { items: each, minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema
    if (items.length < minItems || items.length > maxItems) return [`${at}: has ${items.length} items`]
    return each === undefined
      ? []
      : items.flatMap((item, index) => this.faultsOf(each, item, `${at}/${index}`))
  }

  #objectFaults(schema: JsonSchema, value: object, at: string): readonly string[] {
    const { properties = {}, required = [], additionalProperties = true } = schema
    const missing = required
      .filter((name) => !Object.hasOwn(value, name))
      .map((name) => `${at}: lacks ${name}`)
    const wrong = Object.entries(value).flatMap(([name, member]) => {
      const place = `${at}/${name}`
      const known = Object.hasOwn(properties, name) ? properties[name] : undefined
      if (known !== undefined) return this.faultsOf(known, member, place)
      if (additionalProperties === true) return []
      return additionalProperties === false
        ? [`${place}: is not documented`]
        : this.faultsOf(additionalProperties, member, place)
    })
    return [...missing, ...wrong]
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isOfType(type: NonNullable<JsonSchema['type']>, value: unknown): boolean {
  switch (type) {
    case 'null':
      return value === null
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isObject(value)
    case 'integer':
      return Number.isInteger(value)
    case 'number':
      return Number.isFinite(value)
    case 'boolean':
    case 'string':
      return typeof value === type
  }
}

function textFaults({ minLength = 0, maxLength, pattern }: JsonSchema, text: string, at: string): string[] {
  // JSON Schema counts characters, not UTF-16's units.
  const length = maxLength === undefined && minLength === 0 ? 0 : [...text].length
  const isLengthRight = length >= minLength && length <= (maxLength ?? length)
  const isPatternRight = pattern === undefined || new RegExp(pattern, 'u').test(text)
  return isLengthRight && isPatternRight ? [] : [`${at}: is not such a text`]
}

function numberFaults({ minimum = -Infinity, maximum = Infinity }: JsonSchema, value: number, at: string) {
  return value >= minimum && value <= maximum ? [] : [`${at}: is out of range`]
}
