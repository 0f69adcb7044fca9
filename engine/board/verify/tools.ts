import { z } from 'zod';
import { by, operation, ownWorkError, toWire } from '../../core/api/operation.ts';
import { tool } from '../../core/api/tool.ts';
import { formatCount } from '../../core/base/text.ts';
import type { CallerPaths } from '../../core/workspace/caller-paths.ts';
import type { WorkspacePaths } from '../../core/workspace/workspace-path.ts';
import { findLocalPath } from '../../workers/sessions/index.ts';
import { hash } from '../input.ts';
import type { Tasks } from '../tasks/index.ts';
import { criteriaInput, readCriteria, readSymbols, readTests, symbolsInput, testsInput } from './claims.ts';
import type { VerifyService } from './index.ts';
import { VERIFICATION_STATES } from './rows.ts';
import { VERIFICATION_WORDS } from './state.ts';
import { createSubjectFinder } from './subjects.ts';

export interface VerifyToolsDeps {
  verify: VerifyService;
  tasks: Pick<Tasks, 'get' | 'resolve'>;
  paths: Pick<WorkspacePaths, 'statOf'>;
  callerPaths: Pick<CallerPaths, 'resolveShared' | 'resolveBelow'>;
}

const session = z.string().optional();

/** Creates the tool that reports evidence. */
function reportTool(
  { verify, tasks, paths, callerPaths }: VerifyToolsDeps,
  { resolveSubject, taskOf }: ReturnType<typeof createSubjectFinder>,
) {
  return tool({
    name: 'verify.report',
    about:
      'Report evidence of your work after your last commit, before you finish. `reported` until svc reruns your tests; the answer lists gaps.',
    seat: 'any',
    changes: true,
    input: z.strictObject({
      criteria: criteriaInput,
      session: session.describe('Default: yours.'),
      summary: z
        .string()
        .refine((text) => text.length <= 20_000, 'is longer than 20000')
        .optional()
        .describe('Summary of the work for the reviewer.'),
      symbols: symbolsInput,
      task: z.string().optional().describe("Default: your session's."),
      tests: testsInput,
    }),
    output: z.object({
      session: z.string(),
      task: z.string().nullable(),
      state: z.enum(VERIFICATION_STATES),
      reasons: z.array(z.string()),
    }),
    say: ({ session: whose, state, reasons }) =>
      [
        `the evidence of ${whose} is ${state}: ${VERIFICATION_WORDS[state]}`,
        ...reasons.map((each) => `- ${each}`),
      ].join('\n'),
    async run(input, caller, call) {
      const whose = resolveSubject(input.session, caller);
      const task = taskOf(whose, input.task, caller);
      const acceptance = task === null ? [] : tasks.get(task).acceptanceCriteria;
      const folder = findLocalPath(whose.session?.worktree ?? whose.session?.cwd ?? null);
      const claims = {
        sessionId: whose.sessionId,
        taskId: task,
        summary: input.summary ?? null,
        criteria: readCriteria(input.criteria, acceptance),
        tests: readTests(input.tests),
        symbols: readSymbols(input.symbols, (path) => {
          const named =
            folder === null
              ? callerPaths.resolveShared(path, caller)
              : callerPaths.resolveBelow(folder, path, caller);
          return { path: named.key, exists: paths.statOf(named.absolute) !== null };
        }),
        reportedBy: caller.sessionId ?? caller.actor,
      };
      return verify.report(claims, by(caller), (report) =>
        call.finish(() => {
          const { verification, uncommitted } = report();
          const { sessionId, state, reasons } = verification;
          return { session: sessionId, task, state, reasons: [...reasons, ...notCommitted(uncommitted)] };
        }),
      );
    },
  });
}

/** Operations on evidence, for agents and clients. */
export function verifyTools(deps: VerifyToolsDeps) {
  const { verify, tasks } = deps;
  const subjects = createSubjectFinder(verify, tasks);
  const { nameSubject } = subjects;

  return [
    reportTool(deps, subjects),
    tool({
      name: 'verify.status',
      about:
        'Read the evidence of a session. `reported`: by the worker only; `verified`: svc reran its tests. `reasons` say why not.',
      seat: 'any',
      changes: false,
      input: z.strictObject({ session: session.describe('Default: yours.') }),
      output: z.looseObject({
        session: z.string(),
        state: z.enum(VERIFICATION_STATES),
        reasons: z.array(z.string()),
      }),
      names: { session_id: 'session', task_id: 'task' },
      async run(input, caller) {
        const whose = nameSubject(input.session, caller);
        if (caller.ownWork != null && whose !== caller.ownWork.sessionId) throw ownWorkError(whose, caller);
        return toWire(await verify.of(whose));
      },
    }),
    operation({
      name: 'verify.rerun',
      about:
        'Rerun the tests that an ended session reported, in a clean checkout of the end of its branch, and record whether they end as reported. Waits for them. With `hash`, the `rerun_hash` of the evidence, only if that is still what would run.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({
        session: z.string().min(1),
        hash,
        /** The time limit of each command. */
        timeout_sec: z.int().min(1).max(86_400).default(600),
      }),
      run: (input, caller, { signal, progress }) =>
        verify.rerun(input.session, {
          timeoutSec: input.timeout_sec,
          hash: input.hash,
          signal,
          progress,
          by: by(caller),
        }),
    }),
  ];
}

const notCommitted = (count: number): string[] =>
  count === 0
    ? []
    : [
        `${formatCount(count, 'file is', 'files are')} not committed: the commit at the end makes this evidence stale; commit, then report again`,
      ];
