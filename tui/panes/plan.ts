import { countUnseen, describeUnseen, formatCount } from '../../engine/core/base/text.ts';
import { describeConsent, listSetupFacts } from '../../engine/index.ts';
import type { State } from '../state/model.ts';
import type { ListedPlan, ShownSession } from '../state/rows.ts';
import { renderFacts, splitCleanLines, wrapText } from '../text/text.ts';
import { type StyledLine, span, type TextStyle } from '../text/theme.ts';
import { renderHeading, renderProblem, renderQuote } from './lines.ts';
import { describeRetryTime, formatSeconds } from './time.ts';

const TRANSPORT_WORDS = {
  subprocess: 'as a subprocess',
  acp: 'over acp',
} as const;

/** Describes protocol, account and guard profile of a run, as far as they are known. */
export const describeRunMode = ({
  agent,
  transport,
  auth,
  profile,
}: Pick<ShownSession, 'transport' | 'auth' | 'profile'> & { agent: string | null }): string =>
  [
    transport === null ? null : TRANSPORT_WORDS[transport],
    auth === null
      ? null
      : auth === 'gateway'
        ? 'through the gateway'
        : `with ${agent === null ? 'its' : `${agent}'s`} own login`,
    profile === null ? null : `guard ${profile}`,
  ]
    .filter((each) => each !== null)
    .join(' · ');

const describeAccount = ({ auth, key_before_login: key }: ListedPlan): string =>
  auth === null
    ? ''
    : auth === 'gateway'
      ? ', through the gateway'
      : key === null
        ? ', billed to its own login'
        : `, billed to the account of ${key}, not to its login`;

const describeCost = ({ agent, race, ...plan }: ListedPlan): string => {
  const runs = race === null ? `one run of ${agent ?? 'an agent'}` : `a run each of ${race.length} agents`;
  const reported = race === null ? `${agent ?? 'it'} reports it` : 'they report it';
  const shown = plan.auth === 'gateway' ? 'counted live' : `shown live if ${reported}`;
  return `${runs}${describeAccount({ agent, race, ...plan })}; ${shown}`;
};

/** Lists commands of the project that run outside the sandbox. A person reads them before consenting. */
const listCarriedFacts = ({
  carries,
}: ListedPlan): [name: string, text: string | null, style?: TextStyle][] =>
  carries === null
    ? []
    : [
        ...listSetupFacts(carries),
        ['consent', describeConsent(carries), carries.consent === 'given' ? 'warn' : 'bad'],
      ];

/** Renders what a run would do, when it would start and what it would cost. */
export function renderPlanLines(
  plan: ListedPlan,
  { link, now }: Pick<State, 'link' | 'now'>,
  cells: number,
): StyledLine[] {
  const { agent, command, project, base, workers, continues, held_back: held } = plan;
  const where =
    continues !== null
      ? `continues ${continues.session_id}${continues.branch === null ? '' : ` on ${continues.branch}`}`
      : base === null
        ? 'in the folder itself'
        : `new worktree ${plan.branch_prefix}… from ${base}`;
  const at =
    continues !== null || plan.base_commit === null || plan.base_commit === base
      ? null
      : `${base}@${plan.base_commit.slice(0, 10)}`;
  const queue =
    plan.pool === null
      ? `${workers.running} of ${formatCount(workers.cap, 'worker')} busy`
      : 'on another machine';
  return [
    ...renderFacts(
      [
        [
          'will run',
          `${plan.race === null ? (agent ?? 'no agent') : `a race of ${plan.race.map((each) => each.agent).join(', ')}, one is promoted,`} in ${project ?? link.workspace} · ${where} · timeout ${formatSeconds(plan.timeout_sec)}`,
        ],
        ...(plan.race === null
          ? [['command', command] as [string, string | null]]
          : plan.race.map((each): [string, string | null] => [each.agent, each.command])),
        ['runs', [describeRunMode(plan), at === null ? null : `from ${at}`].filter(Boolean).join(' · ')],
        ...listCarriedFacts(plan),
        [
          'machine',
          plan.pool === null ? null : `one of the pool ${plan.pool}: its prompt and commits are sent there`,
          'warn',
        ],
        [
          'starts',
          plan.starts === 'now'
            ? `immediately (${queue})`
            : plan.waits_for_task !== null
              ? `after ${plan.waits_for_task}`
              : plan.waits_for !== null
                ? `later: ${plan.waits_for}`
                : held === null
                  ? `when a worker is free (${queue})`
                  : `when ${agent ?? 'the agent'} is tried again (${queue})`,
          plan.starts === 'now' ? undefined : 'warn',
        ],
        [
          'suspended',
          held === null
            ? null
            : `${agent} ${describeRetryTime(held.until, now)}: ${held.code}: ${held.text}; H lets it work again`,
          'bad',
        ],
        ['cost', describeCost(plan)],
      ],
      cells,
    ),
    ...(plan.problem === null ? [] : renderProblem(plan.problem, cells)),
  ];
}

/** Renders a whole prompt. */
export const renderPrompt = (prompt: string, cells: number): StyledLine[] =>
  renderQuote(splitCleanLines(prompt.trimEnd()), cells);

/** How many lines of a prompt are shown as its start. */
const BEGINNING_LINES = 3;

/**
 * Renders what a person agrees to: the agent, its guard profile, and the length and start of the prompt. `whole` is
 * the full prompt, or empty if the start is all of it.
 */
export function renderAgreement(
  { plan, prompt, hash }: { plan: ListedPlan; prompt: string; hash: string },
  cells: number,
): { lines: StyledLine[]; whole: StyledLine[] } {
  const all = renderPrompt(prompt, cells);
  const more = all.length - BEGINNING_LINES;
  const length = `${prompt.length} chars, sha ${hash.slice(0, 16)}…`;
  const holds = describeUnseen(countUnseen(prompt));
  return {
    lines: [
      ...renderFacts(
        [
          [
            'agent ',
            [plan.race?.map((each) => each.agent).join(', ') ?? plan.agent ?? 'none', plan.profile]
              .filter(Boolean)
              .join(' · '),
          ],
        ],
        cells,
      ),
      [span('prompt ', 'dim'), span(length)],
      ...(holds === null
        ? []
        : wrapText(`it ${holds}; they are written by number`, cells).map(
            (part): StyledLine => [span(part, 'bad')],
          )),
      ...all.slice(0, BEGINNING_LINES),
    ],
    whole:
      more <= 0
        ? []
        : [[], renderHeading(`the whole prompt, ${formatCount(more, 'line')} longer than above`), ...all],
  };
}
