import { CounterstepError } from '@counterstep/protocol'
import { MalformedMessage } from './call-error.ts'
import { DESCRIPTOR } from './descriptor.ts'

/** Decodes the messages that a method takes, and encodes those that it answers with. */
export interface MethodCodec<Request, Reply> {
  /** Throws MalformedMessage if the bytes are no such message. */
  decode(bytes: Buffer): Request
  encode(reply: Reply): Buffer
}

interface Extended {
  toDescriptor(syntax: string): { readonly file: readonly object[] }
}

/** A number of 64 bits and a name of an enumeration are texts, and a field that did not come has its zero value. */
const DECODED = { longs: String, enums: String, defaults: true } as const

/** Has the messages of the services as protobufjs reads and writes them. */
export class Protobuf {
  /** The files that describe the services to tools. */
  readonly files: readonly Buffer[]
  readonly #root: Awaited<ReturnType<typeof loadRoot>>['root']

  private constructor({ root, files }: Awaited<ReturnType<typeof loadRoot>>) {
    this.#root = root
    this.files = files
  }

  /** Loads the package, which is optional. Throws SAGA_GRPC_MISSING if it is not installed. */
  static async load(): Promise<Protobuf> {
    return new Protobuf(await loadRoot())
  }

  buildCodec<Request = object, Reply = object>(service: string, name: string): MethodCodec<Request, Reply> {
    const { resolvedRequestType: request, resolvedResponseType: reply } =
      this.#root.lookupService(service).methods[name] ?? {}
    if (!request || !reply) throw new Error(`no such method: ${service}/${name}`)
    return {
      decode(bytes) {
        try {
          return request.toObject(request.decode(bytes), DECODED) as Request
        } catch {
          throw new MalformedMessage('bytes of another message')
        }
      },
      encode: (message) => Buffer.from(reply.encode(reply.fromObject(message as object)).finish()),
    }
  }
}

async function loadRoot() {
  try {
    const [{ default: protobuf }, { default: descriptor }] = await Promise.all([
      import('protobufjs'),
      import('protobufjs/ext/descriptor/index.js'),
    ])
    // Its types ask for fields that it does not need, and do not show what its extension adds.
    const described = DESCRIPTOR as unknown as Parameters<typeof protobuf.Root.fromJSON>[0]
    const root = protobuf.Root.fromJSON(described).resolveAll() as InstanceType<typeof protobuf.Root> &
      Extended
    const { file } = root.toDescriptor('proto3')
    const files = file.map((each) => Buffer.from(descriptor.FileDescriptorProto.encode(each).finish()))
    return { root, files }
  } catch (error: unknown) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')) throw error
    throw new CounterstepError(
      'SAGA_GRPC_MISSING',
      'gRPC needs a package that is not installed: npm install protobufjs',
    )
  }
}
