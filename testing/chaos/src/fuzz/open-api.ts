import { type JsonSchema, SchemaJudge } from './json-schema.ts'

/** What the fuzz reads of an OpenAPI document. */
export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> }
}

export interface OperationObject {
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: {
    readonly required: boolean
    readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>>
  }
  readonly responses: Readonly<Record<string, ResponseObject>>
}

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly schema: JsonSchema
}

interface ResponseObject {
  readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>>
}

export interface DocumentedOperation {
  readonly method: string
  /** As the document spells it: `/v1/transactions/{gid}`. */
  readonly template: string
  readonly operation: OperationObject
}

/** The document of a running server, asked for what it says. */
export class ServerDocument {
  readonly operations: readonly DocumentedOperation[]
  readonly judge: SchemaJudge

  constructor({ paths, components }: OpenApiDocument) {
    this.judge = new SchemaJudge(components.schemas)
    this.operations = Object.entries(paths).flatMap(([template, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        method: method.toUpperCase(),
        template,
        operation,
      })),
    )
  }

  static async of(url: string): Promise<ServerDocument> {
    const answer = await fetch(`${url}/openapi.json`)
    // The shape is the server's own promise; its own tests hold it against the OpenAPI schema.
    return new ServerDocument((await answer.json()) as OpenApiDocument)
  }

  /** Undefined: no operation is documented there. HEAD is GET without a body. */
  operationAt(method: string, target: string): DocumentedOperation | undefined {
    const segments = pathOf(target).split('/').map(decoded)
    const asked = method === 'HEAD' ? 'GET' : method
    return this.operations.find(
      (each) => each.method === asked && isMatch(each.template.split('/'), segments),
    )
  }
}

/** Of an absolute-form target too. The router takes `*` for `/` and drops a fragment: neither belongs in a target. */
export function pathOf(target: string): string {
  const path = target === '*' ? '/' : (target.split(/[?#]/, 1)[0] ?? '')
  return path.replace(/^[a-z]+:\/\/[^/]*/i, '')
}

function decoded(segment: string): string {
  return URL.canParse(`http://h/${segment}`) && !/%(?![0-9a-f]{2})/i.test(segment)
    ? Buffer.from(
        segment.replaceAll(/%([0-9a-f]{2})/gi, (_, hex) => byteOf(hex)),
        'latin1',
      ).toString()
    : segment
}

function byteOf(hex: string): string {
  return String.fromCharCode(Number.parseInt(hex, 16))
}

function isMatch(template: readonly string[], segments: readonly string[]): boolean {
  if (template.length !== segments.length) return false
  return template.every((part, index) =>
    part.startsWith('{') ? segments[index] !== '' : part === segments[index],
  )
}
