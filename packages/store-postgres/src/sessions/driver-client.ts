/** A session uses this of the client of the driver. So the types of the package need none of the driver, which not every user has. */
export interface DriverClient {
  readonly ssl: unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'end', listener: () => void): unknown
  on(event: 'notice', listener: (notice: { readonly code?: string | undefined }) => void): unknown
  on(event: 'notification', listener: (message: { readonly payload?: string | undefined }) => void): unknown
  query(config: DriverQuery): Promise<DriverResult>
  end(): Promise<void>
}

export interface DriverQuery {
  text: string
  values: unknown[]
  rowMode: 'array'
  name?: string
}

export interface DriverResult {
  readonly rows: readonly unknown[]
  readonly rowCount: number | null
}
