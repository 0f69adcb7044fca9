import { carriedFacts, consentWords, counted } from '../../engine/index.ts';
import type { Plan, SessionRow, State } from '../state/model.ts';
import { renderFacts, splitCleanLines } from '../text/text.ts';
import { type Line, type Style, span } from '../text/theme.ts';
import { renderHeading, renderProblem, renderQuote } from './lines.ts';
import { describeRetryTime, formatSeconds } from './time.ts';

/** By which protocol, on whose account and within which bounds an agent runs; what is not known yet is left out. */
export const describeRunMode = ({
  transport,
  auth,
  profile,
}: Pick<SessionRow, 'transport' | 'auth' | 'profile'>): string =>
  [transport, auth, profile].filter((each) => each !== null).join(' · ');

const describeCost = ({ agent, auth }: Plan): string =>
  `one run of ${agent ?? 'an agent'}${auth === null ? '' : auth === 'gateway' ? ', through the gateway' : ', on its own account'}; what it spends is told while it runs`;

/** What is run outside of any confinement is read before anything is agreed to. */
const listCarriedFacts = ({ carries }: Plan): [name: string, text: string | null, style?: Style][] =>
  carries === null
    ? []
    : [
        ...carriedFacts(carries),
        ['consent', consentWords(carries), carries.consent === 'given' ? 'warn' : 'bad'],
      ];

/** What a run would do and what it would cost. */
export function renderPlanLines(
  plan: Plan,
  { link, now }: Pick<State, 'link' | 'now'>,
  cells: number,
): Line[] {
  const { agent, command, project, base, workers, held_back: held } = plan;
  const where = base === null ? 'in the folder itself' : `new worktree ${plan.branch_prefix}… from ${base}`;
  const at =
    plan.base_commit === null || plan.base_commit === base
      ? null
      : `${base}@${plan.base_commit.slice(0, 10)}`;
  const queue = `${workers.running} of ${counted(workers.cap, 'worker')} busy`;
  return [
    ...renderFacts(
      [
        [
          'will run',
          `${agent ?? 'no agent'} in ${project ?? link.workspace} · ${where} · timeout ${formatSeconds(plan.timeout_sec)}`,
        ],
        ['command', command],
        ['how', [describeRunMode(plan), at].filter(Boolean).join(' · ')],
        ...listCarriedFacts(plan),
        [
          'starts',
          plan.starts === 'now'
            ? `at once (${queue})`
            : held === null
              ? `when a worker is free (${queue})`
              : `when ${agent ?? 'the agent'} is tried again (${queue})`,
          plan.starts === 'now' ? undefined : 'warn',
        ],
        [
          'held back',
          held === null
            ? null
            : `${agent} ${describeRetryTime(held.until, now)}: ${held.code}: ${held.text}; H gives it work again`,
          'bad',
        ],
        ['cost', describeCost(plan)],
      ],
      cells,
    ),
    ...(plan.problem === null ? [] : renderProblem(plan.problem, cells)),
  ];
}

/** Lines of a prompt that are its beginning. */
const BEGINNING_LINES = 3;

/**
 * What a person agrees to with a run: which agent within which bounds, how long its prompt is, and how that begins. `whole`
 * is the prompt where it goes on after that.
 */
export function renderAgreement(
  { plan, prompt, hash }: { plan: Plan; prompt: string; hash: string },
  cells: number,
): { lines: Line[]; whole: Line[] } {
  const all = renderQuote(splitCleanLines(prompt.trimEnd()), cells);
  const more = all.length - BEGINNING_LINES;
  const length = `${prompt.length} chars, sha ${hash.slice(0, 16)}…`;
  return {
    lines: [
      ...renderFacts([['agent ', [plan.agent ?? 'none', plan.profile].filter(Boolean).join(' · ')]], cells),
      [span('prompt ', 'dim'), span(length)],
      ...all.slice(0, BEGINNING_LINES),
    ],
    whole:
      more <= 0
        ? []
        : [[], renderHeading(`the whole prompt, ${counted(more, 'line')} more than its beginning`), ...all],
  };
}
