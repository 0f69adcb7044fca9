import { renderWords, type SentenceReader } from '../../../core/api/words.ts';
import { chooseLanguage } from './language.ts';
import {
  type ChairRule,
  type ContextRule,
  GUIDANCE_RULES,
  type GuidanceRule,
  type GuidedSeat,
  keyOfRule,
} from './rules.ts';

export interface GuidanceSettings {
  /** `workspace.locale`. */
  locale: string;
  /** `chair.guidance`. */
  chair: Readonly<Record<ChairRule, boolean>>;
  /** `context.guidance`. */
  context: Readonly<Record<ContextRule | 'mcp_tools', boolean>>;
  /** `memory.enabled`: without it no rule mentions memories. */
  hasMemory: boolean;
}

/** One rule as a seat reads it. */
export interface GuidanceLine {
  /** The key of svc.yaml that turns it off. */
  key: string;
  isOn: boolean;
  text: string;
}

export interface WorkerGuidance {
  /** The reminder for the seat, a sentence each, with the names of `reader`. */
  listRules(seat: GuidedSeat, reader: SentenceReader): string[];
  /** Lists every rule for the seat, including disabled ones. */
  describeRules(seat: GuidedSeat, reader: SentenceReader): GuidanceLine[];
  describeLanguage(): { locale: string; language: string; isFallback: boolean };
}

/** The rules that agents are reminded of: `chair.guidance` and `context.guidance` of svc.yaml, in the language of `workspace.locale` (02). */
export function createGuidance(settings: () => GuidanceSettings): WorkerGuidance {
  const listFor = (seat: GuidedSeat): GuidanceRule[] =>
    (Object.keys(GUIDANCE_RULES) as GuidanceRule[]).filter((rule) =>
      (GUIDANCE_RULES[rule] as readonly GuidedSeat[]).includes(seat),
    );
  const isRuleOn = (rule: GuidanceRule): boolean => {
    const { chair, context, hasMemory } = settings();
    switch (rule) {
      case 'crush':
        return context.crush;
      case 'externalize':
        return context.externalize && context.mcp_tools;
      case 'auto_gateway':
        return context.auto_gateway && context.mcp_tools && (context.crush || context.externalize);
      default:
        return chair[rule] && (rule !== 'disk_memory' || hasMemory);
    }
  };
  function describeRules(seat: GuidedSeat, reader: SentenceReader): GuidanceLine[] {
    const { texts } = chooseLanguage(settings().locale);
    return listFor(seat).map((rule) => ({
      key: keyOfRule(rule),
      isOn: isRuleOn(rule),
      text: renderWords(texts[rule], reader),
    }));
  }
  return {
    listRules: (seat, reader) =>
      describeRules(seat, reader)
        .filter((line) => line.isOn)
        .map(({ text }) => text),
    describeRules,
    describeLanguage() {
      const { locale } = settings();
      const { language, isFallback } = chooseLanguage(locale);
      return { locale, language, isFallback };
    },
  };
}
