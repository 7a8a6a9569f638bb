/** What one answer keeps in memory while it is read. */
export interface AnswerShare {
  /** Resolves when this number of further bytes may be kept. Rejects with the signal's reason when aborted. */
  take(bytes: number): Promise<void> | undefined
  /** Must be called once, when the bytes are not needed any more. */
  end(): void
}

/** Limits the memory of all answers that are read at the same time. */
export interface AnswerBudget {
  open(signal: AbortSignal): AnswerShare
}

/**
 * Small answers share `sharedBytes`. An answer that finds no room becomes a large one, and only one large answer at a time is read. It never
 * waits for another answer, so all come to their end.
 */
export function createAnswerBudget(sharedBytes: number): AnswerBudget {
  let usedBytes = 0
  let isReadingLarge = false
  const waiting = new Set<() => void>()

  function becomeLarge(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        isReadingLarge = true
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = (): void => {
        waiting.delete(enter)
        reject(signal.reason)
      }
      if (signal.aborted) return leave()
      if (!isReadingLarge) return enter()
      waiting.add(enter)
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  function endLarge(): void {
    isReadingLarge = false
    const [next] = waiting
    if (next === undefined) return
    waiting.delete(next)
    next()
  }

  return {
    open(signal) {
      let ownBytes = 0
      let isLarge = false
      const giveBack = (): void => {
        usedBytes -= ownBytes
        ownBytes = 0
      }
      return {
        take(bytes) {
          if (isLarge) return undefined
          if (usedBytes + bytes > sharedBytes)
            return becomeLarge(signal).then(() => {
              isLarge = true
              giveBack()
            })
          usedBytes += bytes
          ownBytes += bytes
          return undefined
        },
        end() {
          giveBack()
          // Its text is judged first.
          if (isLarge) setImmediate(endLarge)
        },
      }
    },
  }
}
