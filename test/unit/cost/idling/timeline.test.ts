import { describe, expect, it } from 'vitest'
import { readTimeline } from '../../../../src/cost/idling/profile.ts'
import type { Activity } from '../../../../src/platform/api/activities.ts'
import { hourMs, minuteMs } from '../../../../src/platform/core/durations.ts'
import { serviceId } from '../../../support/sleepy-service.ts'

const at = (hour: number, type: string, of: string | undefined = serviceId): Activity => ({
  type,
  atMs: hour * hourMs,
  serviceId: of,
  actorType: 'system',
})
const login = at(0, 'user_login', 'organization')

/** `0 awake 5 asleep 10`: the borders in hours, and the states between them. */
function statesOf(activities: readonly Activity[], currentState = 'running', nowHour = 24): string {
  const { segments } = readTimeline(activities, { serviceId, currentState, fromMs: 0, nowMs: nowHour * hourMs })
  const [first] = segments
  return [String((first?.fromMs ?? 0) / hourMs), ...segments.map(({ state, toMs }) => `${state} ${toMs / hourMs}`)].join(' ')
}

describe('the states of a service', () => {
  it('the states of a service follow its activities', () => {
    const day = [login, at(5, 'service_idle'), at(9, 'service_awaken'), at(20, 'service_stop'), at(21, 'service_start')]
    expect(statesOf(day)).toBe('0 awake 5 asleep 9 awake 20 stopped 21 awake 24')
  })

  it('the states of a service are those of now where the service has no activities, as far as activities reach back', () => {
    expect(statesOf([at(3, 'user_login')], 'running')).toBe('0 unknown 3 awake 24')
    expect(statesOf([login], 'idle')).toBe('0 asleep 24')
    expect(statesOf([login], 'provisioning')).toBe('0 unknown 24')
    expect(statesOf([], 'running')).toBe('0 unknown 24')
  })

  it('the states of a service are unknown between two activities that cannot follow each other', () => {
    expect(statesOf([login, at(5, 'service_idle'), at(9, 'service_idle'), at(12, 'service_awaken')])).toBe(
      '0 awake 5 unknown 9 asleep 12 awake 24',
    )
  })

  it('the states of a service are unknown before an activity that can follow several states', () => {
    expect(statesOf([login, at(5, 'service_running')])).toBe('0 unknown 5 awake 24')
  })

  it('the states of a service are known before an activity that can follow them, and no other', () => {
    const ways = { awake: 'service_create', asleep: 'service_idle', stopped: 'service_stop' }
    const known = ['create', 'start', 'awaken', 'running', 'partially_running', 'idle', 'stop', 'delete'].map((type) => {
      const before = Object.entries(ways).filter(([state, way]) =>
        statesOf([login, at(2, way), at(9, `service_${type}`)]).includes(`${state} 9`),
      )
      return [type, ...before.map(([state]) => state)].join(' ')
    })
    expect(known).toEqual([
      'create stopped',
      'start asleep stopped',
      'awaken asleep',
      'running awake asleep stopped',
      'partially_running awake asleep stopped',
      'idle awake',
      'stop awake asleep',
      'delete awake asleep stopped',
    ])
  })

  it('the states of a service are unknown at the end if the service is in another state now, because events come late', () => {
    expect(statesOf([login, at(5, 'service_idle')], 'running')).toBe('0 awake 5 unknown 24')
  })

  it('the states of a service do not change where one start is reported twice within minutes', () => {
    const twice = { ...at(9, 'service_running'), atMs: 9 * hourMs + 2 * minuteMs }
    expect(statesOf([login, at(5, 'service_idle'), at(9, 'service_awaken'), twice])).toBe('0 awake 5 asleep 9 awake 24')
    const again = (minutes: number) =>
      statesOf([login, at(5, 'service_idle'), at(9, 'service_awaken'), at(9 + minutes / 60, 'service_awaken')])
    expect([again(15), again(30)]).toEqual(['0 awake 5 asleep 9 awake 24', '0 awake 5 asleep 9 unknown 9.5 awake 24'])
  })

  it('the states of a service ignore activities of other services, and future ones', () => {
    expect(statesOf([login, at(5, 'service_idle', 'other'), at(25, 'service_idle')])).toBe('0 awake 24')
  })

  it('the states of a service come with the time of the last change of idling or scaling', () => {
    const activities = [login, at(3, 'service_update_autoscaling_memory'), at(7, 'service_update_autoscaling_idling'), at(8, 'key_create')]
    const { settingsChangedMs } = readTimeline(activities, { serviceId, currentState: 'running', fromMs: 0, nowMs: 24 * hourMs })
    expect(settingsChangedMs).toBe(7 * hourMs)
  })
})
