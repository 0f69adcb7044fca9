import type { CommandLine, HookEvent } from './hook-event.ts';
import { formatShellCommand } from './shell-command.ts';

/** Seconds; our hook is broken if it is slower, and must not block the agent. */
export const HOOK_TIMEOUT_SEC = 10;

/** Our command for each event. */
export type HookLines = Readonly<Record<HookEvent, CommandLine>>;

/** An agent's name for an event, and a filter for tools or reasons; all if left out. */
export interface HookMoment {
  name: string;
  matcher?: string;
  /** Its name after a failed tool, if it differs. */
  failed?: string;
}

/** The events at which the agent accepts text, or a refusal, from us. */
export type HookMoments = Readonly<Partial<Record<HookEvent, HookMoment>>>;

/** One entry of a list of hooks, under the agent's own event name; without one if it has a single list. */
export interface HookEntry {
  list: string;
  entry: Record<string, unknown>;
}

/** An agent's configuration with our hooks: the same for one run as for a permanent installation. */
export interface AgentHooks {
  moments: HookMoments;
  listEntries(lines: HookLines): HookEntry[];
  /** The whole plugin, for agents whose hooks are not entries. */
  buildPlugin?(lines: HookLines): string;
}

/** Formats a command for an agent's configuration. */
type Hook = (line: CommandLine, event: HookEvent) => Record<string, unknown>;

/** For agents that run hooks in a shell. */
export const buildShellHook: Hook = (line) => ({
  type: 'command',
  command: formatShellCommand(line),
  timeout: HOOK_TIMEOUT_SEC,
});

const listMoments = (moments: HookMoments): [HookEvent, Omit<HookMoment, 'failed'>][] =>
  (Object.entries(moments) as [HookEvent, HookMoment][]).flatMap(([event, { failed, ...moment }]) => [
    [event, moment] as [HookEvent, HookMoment],
    ...(failed === undefined ? [] : [[event, { ...moment, name: failed }] as [HookEvent, HookMoment]]),
  ]);

/** Builds hooks in claude's form, which others have adopted: a list of commands next to the matcher. */
export const groupedHooks = (moments: HookMoments, hook: Hook = buildShellHook): AgentHooks => ({
  moments,
  listEntries: (lines) =>
    listMoments(moments).map(([event, { name, ...matcher }]) => ({
      list: name,
      entry: { ...matcher, hooks: [hook(lines[event], event)] },
    })),
});

/** Entries that are the command itself. */
export const flatHooks = (moments: HookMoments, hook: Hook): AgentHooks => ({
  moments,
  listEntries: (lines) =>
    listMoments(moments).map(([event, { name, ...matcher }]) => ({
      list: name,
      entry: { ...matcher, ...hook(lines[event], event) },
    })),
});

/** Groups the entries as in a settings file. */
export const groupHookEntries = ({ listEntries }: AgentHooks, lines: HookLines): Record<string, object[]> =>
  Object.fromEntries(
    [...Map.groupBy(listEntries(lines), ({ list }) => list)].map(([list, all]) => [
      list,
      all.map(({ entry }) => entry),
    ]),
  );
