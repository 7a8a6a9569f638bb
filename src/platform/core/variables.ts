export type Variables = Readonly<Record<string, string | undefined>>
