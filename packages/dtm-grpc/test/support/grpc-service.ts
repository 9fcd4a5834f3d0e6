import {
  type Client,
  credentials,
  Client as GrpcClient,
  Metadata,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServiceDefinition,
  type ServiceError,
  type sendUnaryData,
} from '@grpc/grpc-js'

export interface PlayedStatus {
  readonly code?: number
  readonly details?: string
  /** The call is never answered. */
  readonly hangs?: true
}

export interface ReceivedCall {
  readonly method: string
  readonly metadata: Readonly<Record<string, unknown>>
  readonly body: string
}

/** Plays services over gRPC, whose methods take any bytes. It notes the calls that come, in their order. */
export class GrpcService implements AsyncDisposable {
  readonly calls: ReceivedCall[] = []
  readonly answers: Readonly<Record<string, readonly PlayedStatus[]>>
  readonly #server = new Server()
  readonly #waiting = new Set<() => void>()
  #port = 0

  private constructor(
    answers: Readonly<Record<string, readonly PlayedStatus[]>>,
    methods: readonly string[],
  ) {
    this.answers = answers
    const bytes = (value: Buffer) => value
    const definition = Object.fromEntries(
      methods.map((method) => [
        method,
        {
          path: `/bank.Bank/${method}`,
          requestStream: false,
          responseStream: false,
          requestSerialize: bytes,
          requestDeserialize: bytes,
          responseSerialize: bytes,
          responseDeserialize: bytes,
        },
      ]),
    )
    const handlers = methods.map((method) => [method, this.#answer.bind(this, method)])
    this.#server.addService(definition as ServiceDefinition, Object.fromEntries(handlers))
  }

  static async open(
    methods: readonly string[],
    answers: Readonly<Record<string, readonly PlayedStatus[]>> = {},
  ): Promise<GrpcService> {
    const service = new GrpcService(answers, methods)
    service.#port = await new Promise<number>((resolve, reject) =>
      service.#server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
        error === null ? resolve(port) : reject(error),
      ),
    )
    return service
  }

  target(method: string): string {
    return `127.0.0.1:${this.#port}/bank.Bank/${method}`
  }

  get methods(): readonly string[] {
    return this.calls.map(({ method }) => method)
  }

  async waitForCalls(count: number): Promise<void> {
    while (this.calls.length < count) await new Promise<void>((resolve) => this.#waiting.add(resolve))
  }

  #answer(method: string, call: ServerUnaryCall<Buffer, Buffer>, callback: sendUnaryData<Buffer>): void {
    const count = this.methods.filter((each) => each === method).length
    this.calls.push({ method, metadata: call.metadata.getMap(), body: call.request.toString() })
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
    const answers = this.answers[method] ?? []
    const { code, details = '', hangs } = answers[Math.min(count, answers.length - 1)] ?? {}
    if (hangs === true) return
    if (code === undefined) callback(null, Buffer.alloc(0))
    else callback({ code, details })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.forceShutdown()
  }
}

export interface CallOutcome {
  readonly code: number
  readonly details: string
  readonly reply: unknown
}

/** Calls methods of DTM's service as a client does. */
export class DtmClient implements Disposable {
  readonly #client: Client
  readonly #service: ServiceDefinition

  constructor(address: string, service: ServiceDefinition, channel = credentials.createInsecure()) {
    this.#client = new GrpcClient(address, channel)
    this.#service = service
  }

  call(name: string, message: object, metadata: Readonly<Record<string, string>> = {}): Promise<CallOutcome> {
    const method = this.#service[name]
    if (method === undefined) throw new Error(`no such method: ${name}`)
    const sent = new Metadata()
    for (const [key, value] of Object.entries(metadata)) sent.set(key, value)
    return new Promise((resolve) => {
      this.#client.makeUnaryRequest(
        method.path,
        method.requestSerialize,
        method.responseDeserialize,
        message,
        sent,
        (error: ServiceError | null, reply?: unknown) =>
          resolve({ code: error?.code ?? 0, details: error?.details ?? '', reply }),
      )
    })
  }

  [Symbol.dispose](): void {
    this.#client.close()
  }
}
