import { stemEnglish } from './stem.ts';

/**
 * Words with little meaning even if they are rare in the searched texts: the common verbs, adjectives and nouns of
 * English and German; folded.
 */
const WORDS = `
able accept access add allow answer apply appear arrive ask avoid back bad become beforehand begin behave belong best better big bring build call care
carry case cause certain change check choose clear close collect come common compare complete consider contain copy correct cost count
create cut data day deal decide define depend describe different do done drop early easy empty end ensure enter entire exact example exist
expect explain extra fact fail fall false fast feel few figure file fill final find finish first fit fix follow force free full general get give go good great
group grow guess half handle happen hard have help hide high hold idea ignore important include increase inside instead keep kind know large last
late lead learn leave left length less let level like line list little live load local long look lose lot low main make manage many matter
mean meant measure meet member mind miss mistake move much name need new next nice normal note notice number object obtain effect occur offer often old open order
original outside part pass path people perform person pick piece place plan point possible prefer prepare prevent proper provide pull purpose put
quick quickly raise rather reach read ready real really reason receive refuse remain remember repeat replace report require reset rest result
return right rule run safe save say second see seem select send sense separate serve set several share short show side similar simple
single size slow small solve sort special stand start state stay step stop store strange strict strong successful such suddenly suggest supply support suppose
sure switch system take talk tell then thing think time together too tool top total touch true trust try turn type uncommon unexpected unexpectedly
unique usual valid value view wait walk want watch way week well whole wide wish wonder word work world worry write wrong year yet
ablauf alle alles andere anders anfang anlegen art aufruf bedeutet beginnt beginnen bekommen benutzen beachten bleibt braucht brauchen bringen darauf dauert
denken eigentlich einfach einstellen ende erhalten erste finden folgt funktioniert funktionieren ganz geben geht gehen genau geschieht gibt gilt grosse gross gut halten heisst
immer jede jeder jedes jetzt klein kommen kommt lassen lauft laufen legen letzte liegt machen macht mehr meist melden mogliche moglich name neu neue nehmen nennen
nutzen oft ort passieren passiert richtig sagen schlecht sehen selbst setzen spat stehen steht stellen stimmt teil tun verwenden viel viele vorher
wenig wert wieder wissen wohin woher zeigen zuerst
`;

const STEMS: ReadonlySet<string> = new Set(WORDS.split(/\s+/).filter(Boolean).map(stemEnglish));

/** Reports whether a folded word is one of them in any of its forms. */
export const isLightWord = (word: string): boolean => STEMS.has(stemEnglish(word));
