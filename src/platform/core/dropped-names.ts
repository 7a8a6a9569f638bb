/** Names of inputs, variables and keys of files that earlier builds had, and what to do instead. */
const dropped: Readonly<Record<string, string>> = {
  'adopt-from': 'set previous-project or previous-repository in .watchkeeper.yml',
  overrides:
    'make the value a variable of the files, set it in variables of the environment or in the instance, and set ids in adopt of the environment',
  recordings: 'backtest tests the incidents of the files on the data of the service',
  'record-group-names': 'nothing is recorded any more',
  'max-alerts': 'select decides which alerts are silenced',
  'min-size-ratio': 'set minSizeRatio in a policy of the file in checks',
  'require-restore-days': 'set requireRestoreDays in a policy of the file in checks',
  results: 'set results in a policy of the file in checks',
  'max-restore-minutes': 'set maxRestoreMinutes below tables in the file in checks',
}

export const adviceOnDropped = (name: string): string | undefined => (Object.hasOwn(dropped, name) ? dropped[name] : undefined)

/** Undefined for a name that never was one. */
export function whyDropped(name: string): string | undefined {
  const advice = adviceOnDropped(name)
  return advice && `is not supported any more; ${advice}`
}
