import { expect, it } from 'vitest'
import { eventSchema, mayConcernFork } from '../../../../src/delivery/github/run.ts'
import { forEachEntry } from '../../../support/corpus.ts'

const own = { head: { repo: { full_name: 'Shop/Infra' } }, number: 7 }
const fork = { head: { repo: { full_name: 'eve/infra' } }, number: 7 }

it('W4: finds the events whose files may be those of a fork', () =>
  forEachEntry<readonly [string, object, boolean, string?]>(
    [
      ['push', { ref: 'refs/heads/main' }, false],
      ['schedule', {}, false],
      ['workflow_dispatch', { inputs: {} }, false],
      // It has the commits of pull requests, which may be those of forks.
      ['merge_group', { merge_group: {} }, true],
      ['push', {}, true, 'refs/heads/gh-readonly-queue/main/pr-7-0123456789abcdef'],
      ['', {}, false],
      ['pull_request', { pull_request: own }, false],
      ['pull_request', { pull_request: fork }, true],
      ['pull_request_target', { pull_request: own }, false],
      ['pull_request_target', { pull_request: fork }, true],
      ['pull_request_review', { pull_request: fork }, true],
      ['pull_request_review_comment', { pull_request: fork }, true],
      // A fork that was deleted.
      ['pull_request', { pull_request: { number: 7, head: { repo: null } } }, true],
      // The event is not readable, or does not say it.
      ['pull_request', {}, true],
      ['pull_request_target', { pull_request: 'x' }, true],
      ['pull_request', { pull_request: { number: 7 } }, true],
      ['workflow_run', { workflow_run: { head_repository: { full_name: 'shop/infra' } } }, false],
      ['workflow_run', { workflow_run: { head_repository: { full_name: 'eve/infra' } } }, true],
      ['workflow_run', {}, true],
      ['issue_comment', { issue: { number: 7 } }, false],
      ['issue_comment', { issue: { number: 7, pull_request: { url: 'x' } } }, true],
    ],
    (eventName, event, expected, ref = 'refs/heads/main') => {
      expect(mayConcernFork({ eventName, repository: 'shop/infra', ref }, eventSchema.parse(event))).toBe(expected)
    },
  ))
