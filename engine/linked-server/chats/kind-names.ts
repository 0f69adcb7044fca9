import type { ChatKind } from '../database/tables.ts';

export const KIND_NAMES: Readonly<Record<ChatKind, string>> = { slack: 'Slack', telegram: 'Telegram' };
