import type { Clock } from '../../core/base/clock.ts';
import { formatCount } from '../../core/base/text.ts';
import type { ChatChannel, ChatKind, PersonRow } from '../database/tables.ts';
import type { PendingDecisions } from '../links/pending.ts';
import type { LinkPolls } from '../links/polls.ts';
import type { WorkspaceLinks } from '../links/workspaces.ts';
import type { AccountPlans } from '../plans/plans.ts';
import { type ChatChannels, readChannelEvents } from './channels.ts';
import { type ClaimResult, findCode } from './connection-codes.ts';
import type { ChatConnections } from './connections.ts';
import { clockTime, nameDecision } from './describe.ts';
import { KIND_NAMES } from './kind-names.ts';
import { notConnected } from './presses.ts';
import type { ChatText } from './service.ts';
import { cleanText } from './spans.ts';
import type { StrangerAnswers } from './stranger-answers.ts';

const SHOWN = 10;
const LONGEST_MUTE_MS = 7 * 24 * 3600_000;
const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3600_000, d: 24 * 3600_000 };

const HELP = [
  'waiting: the decisions that wait',
  'status: the workspaces, and the events sent here',
  'mute 2h: no new events here for two hours; also 30m, 1d, off',
  'help: this',
].join('\n');

export interface WordsDeps {
  clock: Clock;
  plans: Pick<AccountPlans, 'entitlementsOf'>;
  connections: Pick<ChatConnections, 'findPerson' | 'claim'>;
  strangers: StrangerAnswers;
  channels: Pick<ChatChannels, 'findAt' | 'mute'>;
  pending: Pick<PendingDecisions, 'list'>;
  workspaces: Pick<WorkspaceLinks, 'list'>;
  polls: Pick<LinkPolls, 'isConnected'>;
  origin: string;
}

/** Answers people's messages to a bot. */
export function createWords({
  clock,
  plans,
  connections,
  strangers,
  channels,
  pending,
  workspaces,
  polls,
  origin,
}: WordsDeps): { answer(kind: ChatKind, words: ChatText): Promise<string | null> } {
  async function sayWaiting(account: string): Promise<string> {
    const { decisions, more } = await pending.list(account);
    const shown = decisions.slice(0, SHOWN);
    const rest = decisions.length - shown.length + more;
    if (shown.length === 0)
      return rest === 0
        ? 'No decisions are waiting.'
        : `${formatCount(rest, 'decision waits', 'decisions wait')}: see ${origin}/app`;
    return [
      ...shown.map(
        (each) =>
          `${each.decision_id} in ${cleanText(each.workspace.name, 60)}, since ${clockTime(Date.parse(each.since))}: ${cleanText(nameDecision(each), 100)}`,
      ),
      ...(rest > 0 ? [`${rest} more at ${origin}/app`] : []),
    ].join('\n');
  }

  function sayChannel(channel: ChatChannel | null): string {
    if (channel === null) return 'No events are sent here.';
    const events = readChannelEvents(channel).join(', ').replaceAll('_', ' ');
    return channel.muted_until > clock.now()
      ? `Muted until ${clockTime(channel.muted_until)}.`
      : `Events sent here: ${events}.`;
  }

  async function sayStatus(account: string, channel: ChatChannel | null): Promise<string> {
    const [linked, { decisions, more }] = await Promise.all([
      workspaces.list(account),
      pending.list(account),
    ]);
    const open = linked.filter(({ revoked_at }) => revoked_at === null);
    return [
      open.length === 0 ? 'No workspace is linked.' : `${formatCount(open.length, 'workspace')}:`,
      ...open.slice(0, SHOWN).map(({ id, name, last_seen_at }) => {
        const seen = last_seen_at === null ? 'never seen' : `last seen ${formatMoment(last_seen_at)}`;
        return `${cleanText(name, 60)}: ${polls.isConnected(id) ? 'connected' : seen}`;
      }),
      `${formatCount(decisions.length + more, 'decision waits', 'decisions wait')}.`,
      sayChannel(channel),
    ].join('\n');
  }

  async function mute(channel: ChatChannel | null, wish: string): Promise<string> {
    if (channel === null) return 'No events are sent here, so there is nothing to mute.';
    if (wish === 'off') {
      await channels.mute(channel, 0);
      return 'No longer muted.';
    }
    const [, count = '', unit = ''] = /^(\d{1,4})\s*([mhd])$/.exec(wish) ?? [];
    const span = Number(count) * (UNITS[unit] ?? 0);
    if (span <= 0 || span > LONGEST_MUTE_MS) return 'For how long? 30m, 2h or 1d, at most 7d; or mute off.';
    const until = clock.now() + span;
    await channels.mute(channel, until);
    return `No new events are sent here until ${formatMoment(until)}. Existing messages still change.`;
  }

  async function answerPerson(kind: ChatKind, { place, text }: ChatText, person: PersonRow): Promise<string> {
    const { capabilities, plan } = await plans.entitlementsOf(person.account_id);
    if (!capabilities.includes('assistant'))
      return `The plan ${plan} has no assistant. Everything is at ${origin}/app`;
    const channel = await channels.findAt(person.account_id, kind, place);
    if (!place.isPrivate && channel === null)
      return 'This chat does not belong to your account. Write to me in private.';
    const [word = '', ...rest] = text.trim().toLowerCase().split(/\s+/);
    if (word === 'waiting') return sayWaiting(person.account_id);
    if (word === 'status') return sayStatus(person.account_id, channel);
    if (word === 'mute') return mute(channel, rest.join(' '));
    if (word === 'help' || word === 'start') return HELP;
    return `I know these commands:\n${HELP}`;
  }

  return {
    async answer(kind, words) {
      const code = findCode(words.text);
      if (code !== null) {
        const result = await connections.claim(kind, words, code);
        const said = CLAIM_WORDS[result](kind, origin);
        return result === 'too_many' ? strangers.limit(kind, words.user, said) : said;
      }
      const person = await connections.findPerson(kind, words.user.id);
      return person === null
        ? strangers.limit(kind, words.user, notConnected(kind, origin))
        : answerPerson(kind, words, person);
    },
  };
}

const CLAIM_WORDS: Readonly<Record<ClaimResult, (kind: ChatKind, origin: string) => string>> = {
  claimed: (_, origin) => `Now answer the question at ${origin}/app/chats; nothing is connected until then.`,
  unknown: () => 'That code is wrong, used or too old.',
  too_many: () => 'Too many codes were wrong. Wait for a quarter of an hour.',
  other_person: (kind) =>
    `You already speak for another person. Disconnect ${KIND_NAMES[kind]} on their page first.`,
  not_connected: (kind, origin) =>
    `Only the person who created that code can use it. Connect ${KIND_NAMES[kind]} at ${origin}/app/chats first.`,
};

const formatMoment = (at: number): string =>
  `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
