/** The variables of the process, by name. */
export type Variables = Readonly<Record<string, string | undefined>>
