/** The products that `init` and `demo` know. */
export const profileNames = ['clickhouse-cloud', 'hyperdx'] as const
export type ProfileName = (typeof profileNames)[number]
