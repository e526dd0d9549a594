from poise.doctor.finding import Finding as Finding
from poise.doctor.log import examine_log as examine_log
from poise.doctor.robot import examine as examine
