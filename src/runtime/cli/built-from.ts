/** What `actionReference` gave when the command line was bundled: an installed package has no Git. The bundlers replace this file. */
export const builtFrom: string | undefined = undefined
