"""Small word lists for the step linter: verbs a step may begin with, pronouns, words of advice.

Written for Rifugio; a list is not a grammar, so the linter offers what it finds and decides nothing.
"""

from __future__ import annotations

_VERB_TEXT = """
accept access account achieve acknowledge acquire act adapt add address adjourn adjust administer
admit adopt advertise advise agree aim air align aliquot allocate allow alter amend amplify
analyse analyze anchor annotate announce answer anticipate appeal append apply appoint apportion
appraise approach approve arraign arrange arrest ask aspirate assemble assess assign assist assume
attach attempt attend attest audit auscultate authenticate author authorise authorize autoclave
avoid await back bake balance bandage bar base bathe be beat begin bend bid bill bind bleach blend
block blot blow board boil bolt book boot borrow bottle bow box break breathe brew bridge brief
bring broadcast brush buckle budget buff build bundle burn butter button buy calculate calibrate
call calm cancel cap capture care carry carve cast catalogue catch categorise categorize cauterise
cauterize cease celebrate center centre centrifuge certify chain chair challenge change charge
chart check chew chill choose chop circulate cite claim clamp clap clarify class classify clean
cleanse clear click climb clip close coat code collaborate collate collect color colour comb
combine come comfort command comment communicate compare compile complete compose compress compute
conclude condense conduct confer confirm congratulate connect consent consider consolidate
construct consult contact contain continue contract contrast contribute control convene convert
convey cook cool coordinate copy core correct correlate cost count counter countersign cover crack
create credit crop cross cross-examine crush culture curl cut cycle dab dampen date deal debate
debrief debug decant decide declare decline decontaminate decorate decrease deduct defend defer
define deflate defrost degas delay delegate delete deliver demonstrate denote deny depart deposit
derive desalt describe design designate detach detect determine develop devise diagnose dice
dictate differentiate dig dilute dip direct disable disassemble discard discharge disclose
disconnect discuss disinfect dismiss dispatch dispense display dispose dissect dissolve distil
distill distinguish distribute dive divide do document donate double download draft drag drain
drape draw dress dribble drill drink drive drizzle drop dry dry-clean dump duplicate dust dye earn
eat edge edit educate effect eject elevate elicit eliminate elute email embed employ empty enable
encourage end endorse enforce engage enlarge enlist enrol enroll ensure enter entitle equalise
equip erase escort establish estimate etch evaluate evaporate even evict examine exchange exclude
excuse execute exercise exfoliate exhale exit expand explain explore export expose express extend
extract fasten feed feel fertilise fertilize fetch file fill film filter finalise finalize find
finish fire fit fix flag flash flatten flip float flour flush focus fold follow force forecast
form format formulate forward frame freeze freshen fry fulfil fulfill fund furnish fuse gain
garnish gather gauge generate get give glaze glue go grade grant grasp grate grease greet grind
grip group grout grow guarantee guess guide hammer hand handle hang harvest head hear heat help
hem highlight hire hit hoist hold homogenise homogenize host house hunt hydrate identify ignore
illustrate immerse immobilise immobilize implement import improve inactivate include incorporate
increase incubate indicate indict infer inflate inform inhale initial initialise initialize
initiate inject inoculate inquire insert insist inspect install instil instill instruct insulate
insure integrate interpret interrogate interview introduce intubate invent inventory invert invest
investigate invite invoice involve iron irrigate isolate issue itemise itemize join jot judge jump
justify keep knead kneel knit knock know label lace land launch lay layer lead learn lease leave
lend let level liaise lick lift light limit line link liquidate list listen litigate load loan
locate lock lodge log look loosen lower lubricate lyophilise lyophilize lyse mail maintain make
manage map marinate mark mash mask massage match mate measure mediate meet melt memorise memorize
mend merge microwave milk mince mix mobilise mobilize model moderate modify moisten moisturise
moisturize mold monitor mop motivate mould mount move mow mulch multiply nail name narrow navigate
negotiate nominate notarise notarize note notice notify number nurse object observe obtain occupy
offer oil omit open operate oppose order organise organize orient outline oven overlay overrule
oversee overwrite own pack package pad page paint palpate pan paraphrase pare park part
participate pass paste pat patch pause pay peel peer-review pellet percuss perfect perform permit
persuade petition phone photocopy photograph pick pickle pierce pin pinch pipe pipette place plan
plant plate play plead plot plug plunge poach point polish poll pool pop position post postpone
pot pour practice practise praise pre-heat precipitate predict preheat prepare prescribe present
preserve preside press pressurise pressurize prevent preview price prick prime print prioritise
prioritize probe process procure produce profile program project promise promote prompt proofread
propose prosecute protect prove provide prune publish pull pulse pump punch purchase puree purify
pursue push put qualify quantify quarantine quench query question queue quit quiz quote raise rank
rate reach react read realign reassess reassure rebook reboot rebut recall recap receive recite
recognise recognize recommend reconcile reconsider reconstitute record recover recruit rectify
recycle redact redraft reduce refer refill refine reflect refrigerate refund refuse register
regulate rehearse reheat rehydrate reimburse reinforce reject relax release remain remind remove
rename render renew rent reopen repair repay repeat rephrase replace reply report represent
reproduce request require reread rescan reseal research resect reserve reset reshape resolve
respond rest restart restore restrain restrict resubmit result resume resuspend retain retest
retrieve return retype reveal reverse review revise reward rewind rewrite ride ring rinse rip
roast roll rotate round route rub rule run sack salt salute sample sand sanitise sanitize saute
sauté save saw say scale scan schedule scoop score scrape screen screw scroll scrub seal search
season seat secure see seek select sell send sentence separate sequence serve set settle sew shake
shampoo shape share sharpen shave shear shelve shift ship shop shorten show shower shred shut
sieve sift sign signal simmer simplify sit sketch skim skip slice slide slip slit slot slow smell
smoke smooth snap snip soak soften solder solicit solve sort sow space spare speak specify spell
spend spin split sponge spoon spot spray spread sprinkle sprout square squeeze squirt stack staff
stage stain stamp stand staple start state stay steam steep steer step sterilise sterilize stick
stimulate stipulate stir stitch stock stop store straighten strain strap strengthen stretch strike
strip stroke structure study stuff subdivide submit subpoena substitute subtract suck suggest sum
summarise summarize summon supervise supply support surrender survey suspend suture swab swallow
swap swear sweep swing swipe swirl switch sync synthesise synthesize tabulate tag tailor take talk
tally tamp tap tape target taste teach tear telephone tell terminate test testify thank thaw thin
think thread throw tick tidy tie tighten tilt time tip title titrate toast toggle top toss total
touch tow trace track trade train transcribe transfect transfer transform translate transmit
transplant transport travel treat triage trial trim triturate troubleshoot trust try tuck tug tune
turn twist type uncover undergo understand undertake undo undress unfold unload unlock unpack
unplug unroll unscrew untie unwrap unzip update upgrade upload urge use utilise utilize vaccinate
vacuum validate value vary vent ventilate verify view visit visualise visualize vortex vote wait
wake walk warm warn wash watch water wax wear weave weigh welcome weld wet wheel whip whisk
whisper widen wind wipe wire withdraw withhold witness work wrap wring write xerox yield zip zoom
"""

#: Base forms with which steps of everyday and expert tasks begin.
VERBS = frozenset(_VERB_TEXT.split())

#: Words that point to something outside the step itself.
PRONOUNS = frozenset(
    (
        "it",
        "them",
        "they",
        "he",
        "she",
        "him",
        "her",
        "this",
        "these",
        "those",
        "its",
        "their",
        "one",
        "ones",
    )
)
#: After these, 'this' and 'these' name their noun and the step stands alone.
DETERMINERS = frozenset(("this", "these", "those", "her", "its", "their", "one"))

#: Openings that say when or how politely, and are no part of the step.
FILLERS = (
    "please", "then", "next", "first", "firstly", "second", "secondly", "third", "finally", "lastly",
    "afterwards", "after that", "now", "also", "and then", "and", "start by", "begin by", "make sure to",
    "make sure you", "be sure to", "remember to", "don't forget to", "do not forget to", "you need to",
    "you have to", "you must", "you will need to", "you'll need to", "one must", "to", "step",
)  # fmt: skip

#: Words of advice rather than of something to be done.
ADVICE = (
    "you should", "you may want to", "you might want to", "you could", "you can", "it is best to",
    "it's best to", "it is a good idea to", "it's a good idea to", "it is important to",
    "it's important to", "it helps to", "try to", "consider", "feel free to", "be careful", "ideally",
    "we recommend", "it is recommended to", "should", "never", "always", "avoid", "be patient",
    "don't", "do not", "remember that", "keep in mind", "note that", "if possible",
)  # fmt: skip

#: Advice whose rest is a step once the opening is gone.
STRIPPABLE = (
    "you should", "you may want to", "you might want to", "you could", "you can", "it is best to",
    "it's best to", "it is a good idea to", "it's a good idea to", "it is important to",
    "it's important to", "it helps to", "try to", "feel free to", "ideally", "we recommend to",
    "it is recommended to", "always", "if possible",
)  # fmt: skip

#: Openings of a condition, which belongs into the assumption instead.
CONDITIONS = ("if", "unless", "when", "whenever", "in case", "depending on", "provided", "assuming")


def base_form(word: str) -> str:
    """The listed verb a word is a form of ('boiling', 'boils', 'boiled'); '' when there is none.

    Examples
    --------
    >>> base_form("stirring"), base_form("taking"), base_form("the")
    ('stir', 'take', '')
    """
    word = word.casefold()
    if word in VERBS:
        return word
    for ending in ("ing", "ed", "es", "s"):
        if not word.endswith(ending) or len(word) <= len(ending) + 1:
            continue
        stem = word[: -len(ending)]
        tries = [stem, stem + "e"]
        if len(stem) > 2 and stem[-1] == stem[-2]:
            tries.insert(0, stem[:-1])
        if stem.endswith("i"):
            tries.append(stem[:-1] + "y")
        if stem.endswith("y") and ending == "ing":
            tries.append(stem[:-1] + "ie")
        for found in tries:
            if found in VERBS:
                return found
    return ""
