import type { CommandLine, HookEvent } from './hook-event.ts';
import { formatShellCommand } from './shell-command.ts';

/** Seconds; our hook is broken if it is slower, and must not block the agent. */
export const HOOK_TIMEOUT_SEC = 10;

/** Our command for each moment. */
export type HookLines = Readonly<Record<HookEvent, CommandLine>>;

/** An agent's name for a moment, and a filter for tools or reasons; all when left out. */
export interface HookMoment {
  name: string;
  matcher?: string;
  /** Its name after a tool that failed, where that is another one. */
  failed?: string;
}

/** The moments at which the agent accepts text, or a refusal, from us. */
export type HookMoments = Readonly<Partial<Record<HookEvent, HookMoment>>>;

/** One entry of a list of hooks, under the agent's own name of the moment; under none where it has one list for all. */
export interface HookEntry {
  list: string;
  entry: Record<string, unknown>;
}

/** How an agent is configured with our hooks: the same for one run as for a permanent installation. */
export interface AgentHooks {
  moments: HookMoments;
  listEntries(lines: HookLines): HookEntry[];
  /** The whole plugin, for agents whose hooks are not entries. */
  buildPlugin?(lines: HookLines): string;
}

/** A command as an agent's configuration has it. */
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

/** Builds hooks in claude's form, which others have adopted: a list of commands beside the matcher. */
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
