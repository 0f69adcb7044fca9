import { formatCount } from '../../engine/core/base/text.ts';
import type { State } from '../state/model.ts';
import type { RunnerRow } from '../state/rows.ts';
import { callEngine, type ScreenQuestion } from './transition.ts';

const getSelectedRunner = ({ data, lists }: State): RunnerRow | undefined =>
  data.runners?.find((each) => each.id === lists.runners.selected);

/** Explains why the selected machine can be neither drained nor revoked; null if it can. */
export function checkIsInUse(state: State): string | null {
  const runner = getSelectedRunner(state);
  if (runner === undefined) return 'no machine is selected';
  const { name } = runner;
  return runner.state === 'revoked' ? `${name} was revoked: svc runner remove ${name} takes it out` : null;
}

/** Asks to drain the selected machine, or to let it get runs again. */
export function askToDrain(state: State): ScreenQuestion {
  const runner = getSelectedRunner(state)!;
  return runner.is_drained ? askToUndrain(runner) : askToDrainMachine(runner);
}

const askToDrainMachine = ({ id, name }: RunnerRow): ScreenQuestion => ({
  subject: { kind: 'runner', id },
  text: `Drain ${name}? It finishes its runs and gets no new ones.`,
  answers: [
    {
      key: 'y',
      label: 'drain',
      run: (now) =>
        callEngine(now, {
          operation: 'runner.drain',
          input: { name },
          busy: id,
          doing: `draining ${name}`,
          describeAnswer: () => `${name} gets no new run`,
        }),
    },
  ],
});

const askToUndrain = ({ id, name }: RunnerRow): ScreenQuestion => ({
  subject: { kind: 'runner', id },
  text: `Let ${name} get runs again?`,
  answers: [
    {
      key: 'y',
      label: 'use it again',
      run: (now) =>
        callEngine(now, {
          operation: 'runner.drain',
          input: { name, undo: true },
          busy: id,
          doing: `letting ${name} get runs again`,
          describeAnswer: () => `${name} gets runs again`,
        }),
    },
  ],
});

/** Asks to cut the selected machine off. */
export function askToRevoke(state: State): ScreenQuestion {
  const { id, name, pool, running } = getSelectedRunner(state)!;
  const runs =
    running === 0
      ? ''
      : ` Its ${formatCount(running, 'run')} will continue on others of the pool ${pool}, from what was saved.`;
  return {
    subject: { kind: 'runner', id },
    text: `Cut ${name} off at once, for good?${runs}`,
    answers: [
      {
        key: 'y',
        label: 'revoke',
        run: (now) =>
          callEngine(now, {
            operation: 'runner.revoke',
            input: { name },
            busy: id,
            doing: `cutting ${name} off`,
            describeAnswer: () => `${name} is cut off; svc runner remove ${name} takes it out`,
          }),
      },
    ],
  };
}
